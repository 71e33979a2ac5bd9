//! `explain`: which finding. What there is to say of it is the catalogue's business.

use crate::finding::Code;
use clap::Args;
use clap::builder::PossibleValuesParser;

/// What `explain` takes.
#[derive(Debug, Clone, Default, Args)]
pub struct ExplainArgs {
    /// The code that stands in brackets behind a finding, such as memlock; all of them as Markdown without one
    #[arg(value_name = "CODE", value_parser = names(), hide_possible_values = true)]
    pub code: Option<String>,
}

fn names() -> PossibleValuesParser {
    Code::all().map(Code::name).collect::<Vec<_>>().into()
}

impl ExplainArgs {
    /// The code of that name; the parser has let no other pass.
    #[must_use]
    pub fn finding(&self) -> Option<Code> {
        let name = self.code.as_deref()?;
        Code::all().find(|code| code.name() == name)
    }
}
