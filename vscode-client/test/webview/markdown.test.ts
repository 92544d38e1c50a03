// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import { blocks, partsOf, fenceOf, Growing } from "../../src/panel/blocks";
import { linkTarget, render } from "../../src/panel/markdown";

const TEXT = [
  "# Title\n",
  "A paragraph with `code` and\na second line.\n",
  "- one\n\n  still one\n\n- two\n",
  "```py\n\nx = 1\n\n- no list\n```\n",
  "> quoted\n\n> more\n",
  "| a | b |\n|---|---|\n| 1 | 2 |\n",
  "1. first\n\n2. second\n",
  "So:\n~~~\ncode\n~~~\n- a list\n  ```\n  code in it\n  ```\n- goes on\n```sh\nls\n```\n\n    left alone",
  "```one`` `line``` of words\nand more.\n",
  "The end.",
].join("\n");

const bare = (html: string): string => html.replace(/\s+/g, " ").replace(/> </g, "><").trim();

describe("blocks", () => {
  it("are rendered one by one to the same as all at once", () => {
    const parts = blocks(TEXT);
    expect(parts.join("")).toBe(TEXT);
    expect(parts.length).toBe(11);
    expect(bare(parts.map((part) => render(part, true)).join(""))).toBe(bare(render(TEXT, true)));
  });

  it("are the same however the text is cut, and a finished one never changes", () => {
    for (const size of [1, 2, 3, 7, 40]) {
      const growing = new Growing();
      let seen: string[] = [];
      for (let end = size; end < TEXT.length + size; end += size) {
        const now = growing.blocks(TEXT.slice(0, end));
        expect(now.slice(0, Math.max(0, seen.length - 1))).toEqual(seen.slice(0, -1));
        seen = now;
      }
      expect(seen).toEqual(blocks(TEXT));
    }
  });

  it("begin anew with another text", () => {
    const growing = new Growing();
    growing.blocks("one\n\ntwo");
    expect(growing.blocks("three")).toEqual(["three"]);
  });

  it("of a very long list are cut between two items", () => {
    const list = Array.from({ length: 2000 }, (_, index) => `- item ${index}\n`).join("");
    const parts = blocks(list);
    expect(parts.join("")).toBe(list);
    expect(Math.max(...parts.map((part) => part.length))).toBeLessThan(5_000);
  });

  it("of code are known while they are written, and when they are whole", () => {
    expect(fenceOf("```py\nx = 1")).toEqual({ language: "py", code: "x = 1", closed: false });
    expect(fenceOf("```\n")).toEqual({ language: "", code: "", closed: false });
    expect(fenceOf("```py\nx\n```")).toEqual({ language: "py", code: "x\n", closed: true });
    expect(fenceOf("````py\nx\n```\n````\n")).toEqual({
      language: "py",
      code: "x\n```\n",
      closed: true,
    });
    expect(fenceOf("words")).toBeUndefined();
  });

  it("that are long grow only in their last part", () => {
    const code = Array.from({ length: 200 }, (_, index) => `line ${index}\n`).join("");
    const parts = partsOf(code);
    expect(parts.join("")).toBe(code);
    expect(parts).toHaveLength(4);
    expect(partsOf(`${code}more`).slice(0, 3)).toEqual(parts.slice(0, 3));
    const line = "x".repeat(50_000);
    expect(partsOf(line).join("")).toBe(line);
    expect(
      partsOf(line)
        .map((part) => part.length)
        .slice(0, -1),
    ).toEqual(Array(6).fill(8_000));
  });
});

describe("markdown", () => {
  it.each([
    ["https://example.org/a?b#c", "page"],
    ["http://localhost:3000/", "page"],
    ["http://127.0.0.1:8080", "page"],
    ["http://example.org/", undefined],
    ["http://localhost.evil.org/", undefined],
    ["src/a.py", "file"],
    ["stats.py:7", "file"],
    ["file:///work/a.py#L3", "file"],
    ["file://server/share", undefined],
    ["javascript:alert(1)", undefined],
    ["javascript:1", undefined],
    ["data:text/html,x", undefined],
    ["command:workbench.action.quit", undefined],
    ["vscode://x/y", undefined],
    ["//example.org/x", undefined],
    ["#part", undefined],
    ["", undefined],
  ])("a link to %j leads to %s", (href, target) => {
    expect(linkTarget(href)).toBe(target);
    const html = render(`[x](<${href}>)`, true);
    expect(html.includes("<a ")).toBe(target !== undefined);
  });

  it("fetches no image: it is a link, or its words", () => {
    expect(render("![a < b](https://example.org/x.png)", true)).toContain(
      '<a href="https://example.org/x.png">a &lt; b</a>',
    );
    expect(render("![secret](http://evil.org/?q=1)", true)).not.toMatch(/<img|<a /);
  });

  it("takes no name of a file for a host", () => {
    expect(render("see stats.py and notes.md", true)).not.toContain("<a ");
    expect(render("see https://example.org.", true)).toContain('href="https://example.org"');
  });

  it.each([
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<a href='javascript:alert(1)'>x</a>",
    "<style>*{display:none}</style>",
    '```"><img src=x onerror=alert(1)>\nx\n```',
    '[x](https://e.org "" onclick=alert(1))',
  ])("lets no HTML through: %s", (text) => {
    const page = document.createElement("div");
    page.innerHTML = render(text, true);
    expect(
      page.querySelector("script, img, style, [onerror], [onclick], a[href^=javascript]"),
    ).toBeNull();
  });

  it("highlights code once it is finished, unless it is huge or of no language", () => {
    expect(render("```py\nreturn 1\n```", false)).not.toContain("hljs-");
    expect(render("```py\nreturn 1\n```", true)).toContain("hljs-keyword");
    expect(render(`\`\`\`py\n${"return 1\n".repeat(5000)}\`\`\``, true)).not.toContain("hljs-");
    expect(render("```nonsense\nreturn <1>\n```", true)).toContain("return &lt;1&gt;");
  });
});
