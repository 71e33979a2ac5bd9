//! Values of a stream file with their places in it, so that what is refused names its line. Knows TOML and no stream.

use crate::config::ConfigError;
use crate::config::error::visible;
use crate::units::grouped;
use std::rc::Rc;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// A file's name and text.
#[derive(Debug, Clone, Copy)]
pub struct Source<'s> {
    /// As it was named on the command line.
    pub name: &'s str,
    /// All of it.
    pub text: &'s str,
}

/// A value and its place.
#[derive(Debug, Clone)]
pub struct Node<'d> {
    source: Source<'d>,
    /// The stream that it is in, in words; empty outside of any.
    stream: Rc<str>,
    /// Its keys from the stream on, such as `layers[2].vlan.id`.
    path: String,
    /// Its first byte.
    at: usize,
    value: &'d DeValue<'d>,
}

/// A table all of whose keys are known.
#[derive(Debug, Clone)]
pub struct Table<'d> {
    node: Node<'d>,
    entries: &'d DeTable<'d>,
}

impl Source<'_> {
    /// An error at a byte of the file.
    pub fn refuse(self, at: usize, what: impl Into<String>, remedy: impl Into<String>) -> ConfigError {
        ConfigError::bare(&format!("--stream {}:{}", visible(self.name), self.line(at)), what, remedy)
    }

    /// The number of a byte's line, from 1.
    fn line(self, at: usize) -> usize {
        self.text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
    }
}

impl<'d> Node<'d> {
    /// The whole document.
    pub fn root(source: Source<'d>, document: &'d Spanned<DeValue<'d>>) -> Self {
        Self { source, stream: "".into(), path: String::new(), at: 0, value: document.get_ref() }
    }

    /// An error of this value.
    pub fn refuse(&self, what: impl Into<String>, remedy: impl Into<String>) -> ConfigError {
        let mut error = self.source.refuse(self.at, what, remedy);
        for part in [&*self.stream, &self.path] {
            if !part.is_empty() {
                error.flag = format!("{}, {}", error.flag, visible(part));
            }
        }
        error
    }

    /// The same value, as that of a stream by this name; paths begin anew.
    pub fn in_stream(&self, name: &str) -> Self {
        Self { stream: format!("stream {name}").into(), path: String::new(), ..self.clone() }
    }

    fn child(&self, path: String, value: &'d Spanned<DeValue<'d>>) -> Self {
        let (stream, source) = (Rc::clone(&self.stream), self.source);
        Self { source, stream, path, at: value.span().start, value: value.get_ref() }
    }

    fn wrong_type(&self, wanted: &str, remedy: &str) -> ConfigError {
        self.refuse(format!("it is {}, and takes {wanted}", kind(self.value)), remedy)
    }

    /// The value of a key, whatever else is there; None where this is no table.
    pub fn peek(&self, key: &str) -> Option<Self> {
        let value = self.value.as_table()?.get(key)?;
        Some(self.child(key.to_owned(), value))
    }

    /// A table that has no keys but these.
    pub fn table(&self, keys: &[&str], remedy: &str) -> Result<Table<'d>, ConfigError> {
        let entries = self.value.as_table().ok_or_else(|| self.wrong_type("a table", remedy))?;
        let unknown = entries.keys().find(|key| !keys.contains(&key.get_ref().as_ref()));
        match unknown {
            None => Ok(Table { node: self.clone(), entries }),
            Some(key) => {
                let here = Self { at: key.span().start, ..self.clone() };
                let name = visible(key.get_ref());
                Err(here.refuse(format!("there is no key {name} here"), choices(&name, keys.iter().copied())))
            }
        }
    }

    /// The values of an array.
    pub fn array(&self, remedy: &str) -> Result<Vec<Self>, ConfigError> {
        let items: &DeArray<'_> = self.value.as_array().ok_or_else(|| self.wrong_type("an array", remedy))?;
        let item = |(at, value)| self.child(format!("{}[{}]", self.path, at + 1), value);
        Ok(items.iter().enumerate().map(item).collect())
    }

    /// Whether it is an array.
    pub fn is_array(&self) -> bool {
        self.value.is_array()
    }

    /// Whether it is a table.
    pub fn is_table(&self) -> bool {
        self.value.is_table()
    }

    /// Its text, where it is one.
    pub fn as_text(&self) -> Option<&'d str> {
        self.value.as_str()
    }

    /// A text.
    pub fn text(&self, remedy: &str) -> Result<&'d str, ConfigError> {
        self.as_text().ok_or_else(|| self.wrong_type("a text in quotes", remedy))
    }

    /// A truth value.
    pub fn truth(&self) -> Result<bool, ConfigError> {
        self.value.as_bool().ok_or_else(|| self.wrong_type("true or false", "true, or false"))
    }

    /// A whole number from 0 to `most`; `why` says where that comes from.
    pub fn number(&self, most: u64, why: &str) -> Result<u64, ConfigError> {
        let range = || format!("0 to {most}");
        let Some(integer) = self.value.as_integer() else {
            return Err(self.wrong_type("a whole number", &range()));
        };
        let text = integer.as_str();
        match u64::from_str_radix(text, integer.radix()) {
            Ok(value) if value <= most => Ok(value),
            _ if text.starts_with('-') => Err(self.refuse(format!("{text} is below 0; {why}"), range())),
            _ => Err(self.refuse(format!("{text} is above {}; {why}", grouped(most)), range())),
        }
    }

    /// What a text stands for, or the reason why it stands for nothing.
    pub fn read<T>(&self, remedy: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<T, ConfigError> {
        let text = self.text(remedy)?;
        read(text).map_err(|what| self.refuse(what, remedy))
    }
}

impl<'d> Table<'d> {
    /// The value of a key, if it is there.
    pub fn get(&self, key: &str) -> Option<Node<'d>> {
        let path = &self.node.path;
        let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        self.entries.get(key).map(|value| self.node.child(path, value))
    }

    /// The value of a key that must be there.
    pub fn need(&self, key: &str, remedy: &str) -> Result<Node<'d>, ConfigError> {
        self.get(key).ok_or_else(|| self.node.refuse(format!("{key} is missing"), remedy))
    }

    /// What a key's value is read as, if it is there.
    pub fn given<T>(
        &self,
        key: &str,
        read: impl Fn(&Node<'d>) -> Result<T, ConfigError>,
    ) -> Result<Option<T>, ConfigError> {
        self.get(key).map(|node| read(&node)).transpose()
    }

    /// The number of a key, `default` without it, from 0 to `most` and within the type.
    pub fn number<T: TryFrom<u64> + Copy>(
        &self,
        key: &str,
        most: u64,
        why: &str,
        default: T,
    ) -> Result<T, ConfigError> {
        let read = self.given(key, |node| node.number(most, why))?;
        Ok(read.map_or(default, |value| T::try_from(value).unwrap_or(default)))
    }

    /// The number of a key whose field has so many bits, if it is there.
    pub fn bits<T: TryFrom<u64>>(&self, key: &str, bits: u32) -> Result<Option<T>, ConfigError> {
        let most = u64::MAX >> (u64::BITS - bits);
        let read = self.given(key, |node| node.number(most, &format!("it has {bits} bits")))?;
        Ok(read.and_then(|value| T::try_from(value).ok()))
    }

    /// The truth value of a key, `default` without it.
    pub fn truth(&self, key: &str, default: bool) -> Result<bool, ConfigError> {
        Ok(self.given(key, Node::truth)?.unwrap_or(default))
    }

    /// The table itself, for errors about it as a whole.
    pub fn node(&self) -> &Node<'d> {
        &self.node
    }

    /// Its keys.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(|key| key.get_ref().as_ref())
    }
}

/// A value's type in words.
fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}

/// Names to choose from at the most; more would bury the near ones.
const MOST_CHOICES: usize = 12;

/// `one of near, nearly, far`: those most like `name` first.
pub fn choices<'n>(name: &str, all: impl Iterator<Item = &'n str>) -> String {
    let mut names: Vec<(f64, &str)> = all.map(|other| (strsim::jaro_winkler(name, other), other)).collect();
    names.sort_by(|a, b| b.0.total_cmp(&a.0));
    let shown: Vec<&str> = names.iter().take(MOST_CHOICES).map(|(_, name)| *name).collect();
    match names.len().saturating_sub(shown.len()) {
        0 => format!("one of {}", shown.join(", ")),
        more => {
            format!("one of {} (and {more} more: tx --stream FILE --dry-run lists them)", shown.join(", "))
        }
    }
}
