// Markdown of a model as safe HTML: no raw HTML, no images, links only where they may lead.

import DOMPurify from "dompurify";
import hljs from "highlight.js/lib/common";
import MarkdownIt from "markdown-it";

const md = new MarkdownIt({ html: false, linkify: true, typographer: false, breaks: false });
// "stats.py" is a file here, and no host in Paraguay.
md.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
md.validateLink = (href) => linkTarget(href) !== undefined;
md.renderer.rules["image"] = (tokens, index) => {
  // Nothing is fetched by itself: an image is the link that it came from.
  const token = tokens[index]!;
  const href = String(token.attrGet("src") ?? "");
  const text = md.utils.escapeHtml(token.content || href);
  return linkTarget(href) === undefined
    ? text
    : `<a href="${md.utils.escapeHtml(href)}">${text}</a>`;
};

// Each paragraph reads in the direction of its own words; code is always read from the left.
for (const name of ["paragraph_open", "heading_open", "list_item_open", "th_open", "td_open"]) {
  const before = md.renderer.rules[name];
  md.renderer.rules[name] = (tokens, index, options, env, self) => {
    tokens[index]!.attrSet("dir", "auto");
    return before
      ? before(tokens, index, options, env, self)
      : self.renderToken(tokens, index, options);
  };
}

/** What runs on this machine may be looked at without encryption. */
const LOCAL = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?([/?#]\S*)?$/i;

/** Where a link may lead: a page, which the editor asks about first, or a file of the workspace. */
export function linkTarget(href: string): "page" | "file" | undefined {
  const trimmed = href.trim();
  if (/^https:\/\/[^\s]+$/i.test(trimmed) || LOCAL.test(trimmed)) return "page";
  if (/^file:\/\/\//i.test(trimmed)) return "file";
  // A name and a line ("stats.py:7") is no scheme.
  if (/^[\w-]*\.[\w.-]*:\d+$/i.test(trimmed)) return "file";
  if (/^[a-z][a-z0-9+.-]*:/i.test(trimmed) || trimmed.startsWith("//")) return undefined;
  return trimmed && !trimmed.startsWith("#") ? "file" : undefined;
}

// Once and for all: to read these anew costs about as much as to clean a short answer.
DOMPurify.setConfig({
  ALLOWED_TAGS: [
    "a",
    "blockquote",
    "br",
    "code",
    "del",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "s",
    "span",
    "strong",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
  ],
  ALLOWED_ATTR: ["href", "class", "start", "dir"],
  ALLOW_DATA_ATTR: false,
  ALLOWED_URI_REGEXP:
    /^(?:https?:\/\/|file:\/\/\/|[\w-]*\.[\w.-]*:\d+$|(?![a-z][a-z0-9+.-]*:)(?!\/\/))/i,
});

/** One block; code is highlighted only once it is `finished`. */
export function render(block: string, finished: boolean): string {
  md.options.highlight = finished ? highlight : null;
  const clean = DOMPurify.sanitize(md.render(block));
  // A table that is wider than the panel is scrolled by itself, also with the keyboard.
  return clean
    .replaceAll("<pre>", '<pre dir="ltr">')
    .replaceAll("<code", '<code dir="ltr"')
    .replaceAll("<table>", '<div class="table" tabindex="0"><table>')
    .replaceAll("</table>", "</table></div>");
}

/** The most characters of a code block that are highlighted: beyond that it takes too long. */
export const HIGHLIGHTED = 20_000;

export function highlight(code: string, language: string): string {
  const name = language.trim().split(/\s/)[0]?.toLowerCase() ?? "";
  if (!name || code.length > HIGHLIGHTED || !hljs.getLanguage(name))
    return md.utils.escapeHtml(code);
  return hljs.highlight(code, { language: name, ignoreIllegals: true }).value;
}
