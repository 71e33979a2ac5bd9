//! Finds the paths that a source file mentions, by its tokens: use lines, expressions and macro arguments alike;
//! comments and strings are no tokens. Knows nothing of which paths are allowed.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// A path as written, made absolute where it begins with `crate`, `self` or `super`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// Line, from 1.
    pub line: usize,
    /// The segments; those of this crate begin with `crate`.
    pub path: Vec<String>,
    /// Whether it stands in an item under `#[cfg(test)]`.
    pub in_test: bool,
}

/// What a file says.
#[derive(Debug, Default)]
pub struct Scan {
    /// Its paths of two segments or more.
    pub mentions: Vec<Mention>,
    /// Lines that lift the ban on unsafe code.
    pub unsafe_allowed: Vec<usize>,
    /// Modules in files of their own that exist for tests only.
    pub test_modules: Vec<Vec<String>>,
}

/// Scans the text of the file of `module` (segments behind `crate`).
///
/// # Errors
/// The text does not consist of Rust tokens.
pub fn scan(text: &str, module: &[String]) -> Result<Scan, String> {
    let tokens: TokenStream = text.parse().map_err(|e| format!("not Rust: {e}"))?;
    let mut scan = Scan::default();
    walk(
        &tokens.into_iter().collect::<Vec<_>>(),
        &Place { module: module.to_vec(), in_test: false },
        &mut scan,
    );
    Ok(scan)
}

#[derive(Clone)]
struct Place {
    module: Vec<String>,
    in_test: bool,
}

impl Place {
    fn inside(&self, module: String, in_test: bool) -> Self {
        Self { module: [self.module.clone(), vec![module]].concat(), in_test }
    }

    /// `crate`, `self` and `super` in front become the absolute path.
    fn absolute(&self, path: &[String]) -> Vec<String> {
        let mut base = self.module.clone();
        let mut rest = path;
        match path.first().map(String::as_str) {
            Some("self") => rest = &path[1..],
            Some("super") => {
                while rest.first().is_some_and(|s| s == "super") {
                    base.pop();
                    rest = &rest[1..];
                }
            }
            _ => return path.to_vec(),
        }
        [vec!["crate".to_owned()], base, rest.to_vec()].concat()
    }
}

fn is_punct(token: Option<&TokenTree>, char: char) -> bool {
    matches!(token, Some(TokenTree::Punct(p)) if p.as_char() == char)
}

fn ident(token: Option<&TokenTree>) -> Option<String> {
    match token {
        Some(TokenTree::Ident(ident)) => Some(ident.to_string().trim_start_matches("r#").to_owned()),
        _ => None,
    }
}

fn group(token: Option<&TokenTree>, delimiter: Delimiter) -> Option<&Group> {
    match token {
        Some(TokenTree::Group(group)) if group.delimiter() == delimiter => Some(group),
        _ => None,
    }
}

fn inner(group: &Group) -> Vec<TokenTree> {
    group.stream().into_iter().collect()
}

fn walk(tokens: &[TokenTree], place: &Place, scan: &mut Scan) {
    let mut at = 0;
    // Set by #[cfg(test)], until the item that it stands in front of has ended.
    let mut test_item = false;
    while let Some(token) = tokens.get(at) {
        let here = Place { in_test: place.in_test || test_item, ..place.clone() };
        test_item |= is_punct(Some(token), '#') && is_cfg_test(tokens.get(at + 1));
        note_unsafe(tokens, at, scan);
        if let Some(past) = module(tokens, at, &here, scan) {
            (at, test_item) = (past, false);
            continue;
        }
        if let Some(past) = path(tokens, at, &here, scan) {
            at = past;
            continue;
        }
        if let TokenTree::Group(group) = token {
            walk(&inner(group), &here, scan);
        }
        if is_punct(Some(token), ';') || group(Some(token), Delimiter::Brace).is_some() {
            test_item = false;
        }
        at += 1;
    }
}

/// `[cfg(test)]`, also within `all(…)`.
fn is_cfg_test(token: Option<&TokenTree>) -> bool {
    let Some(attribute) = group(token, Delimiter::Bracket) else { return false };
    let text = attribute.stream().to_string().replace(' ', "");
    text == "cfg(test)" || text.starts_with("cfg(all(test,")
}

/// `mod name { … }` is walked as a module of its own, `mod name;` is noted when it is for tests only.
fn module(tokens: &[TokenTree], at: usize, place: &Place, scan: &mut Scan) -> Option<usize> {
    if ident(tokens.get(at))? != "mod" {
        return None;
    }
    let name = ident(tokens.get(at + 1))?;
    let place = place.inside(name, place.in_test);
    match group(tokens.get(at + 2), Delimiter::Brace) {
        Some(body) => walk(&inner(body), &place, scan),
        None if place.in_test => scan.test_modules.push(place.module),
        None => {}
    }
    Some(at + 3)
}

/// A path that begins at `at`: notes it, or each branch of its use tree, and returns where it ends.
fn path(tokens: &[TokenTree], at: usize, place: &Place, scan: &mut Scan) -> Option<usize> {
    let line = tokens.get(at)?.span().start().line;
    ident(tokens.get(at))?;
    let (paths, end) = flatten(&[], tokens, at);
    for path in paths {
        note(line, &path, place, scan);
    }
    Some(end)
}

/// All paths that begin with `prefix` and go on at `at`, and where they end: `a::{b, c::d}` is two.
fn flatten(prefix: &[String], tokens: &[TokenTree], mut at: usize) -> (Vec<Vec<String>>, usize) {
    let mut path = prefix.to_vec();
    while let Some(segment) = ident(tokens.get(at)) {
        path.push(segment);
        at += 1;
        if !(is_punct(tokens.get(at), ':') && is_punct(tokens.get(at + 1), ':')) {
            break;
        }
        if let Some(tree) = group(tokens.get(at + 2), Delimiter::Brace) {
            let inside = inner(tree);
            let branches = inside.split(|token| is_punct(Some(token), ','));
            return (branches.flat_map(|branch| flatten(&path, branch, 0).0).collect(), at + 3);
        }
        at += 2;
    }
    (vec![path], at)
}

fn note(line: usize, segments: &[String], place: &Place, scan: &mut Scan) {
    let path = place.absolute(segments);
    if path.len() > 1 {
        scan.mentions.push(Mention { line, path, in_test: place.in_test });
    }
}

/// `allow(unsafe_code)` and its like, wherever it stands.
fn note_unsafe(tokens: &[TokenTree], at: usize, scan: &mut Scan) {
    let lifts = matches!(ident(tokens.get(at)).as_deref(), Some("allow" | "expect" | "warn"));
    let Some(lints) = group(tokens.get(at + 1), Delimiter::Parenthesis).filter(|_| lifts) else { return };
    if inner(lints).iter().any(|lint| ident(Some(lint)).as_deref() == Some("unsafe_code")) {
        scan.unsafe_allowed.push(lints.span_open().start().line);
    }
}
