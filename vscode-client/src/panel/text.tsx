// Markdown on the screen: finished blocks are rendered once and never touched again.

import { render as show } from "preact";
import { memo } from "preact/compat";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { partsOf, fenceOf, Growing } from "./blocks";
import { HIGHLIGHTED, linkTarget, render } from "./markdown";
import type { Store } from "./store";
import { useStore } from "./use";
import { Button, IconButton } from "./widgets";

/** A longer block is shown as it was written: while it grows, or until one asks; in characters. */
const LONG = { growing: 6_000, finished: 16_000 };

export function Markdown({ text, streaming }: { text: string; streaming: boolean }) {
  const growing = useRef(new Growing());
  const parts = growing.current.blocks(text);
  return (
    <div class="markdown">
      {parts.map((part, index) => (
        <Block key={index} source={part} finished={!streaming || index < parts.length - 1} />
      ))}
    </div>
  );
}

const Block = memo(function Block({ source, finished }: { source: string; finished: boolean }) {
  const [asked, ask] = useState(false);
  const fence = fenceOf(source);
  const plain = fence && (finished ? fence.code.length > HIGHLIGHTED : !fence.closed);
  if (plain) return <PlainCode code={fence.code} finished={finished} />;
  if (asked || fence || source.length <= (finished ? LONG.finished : LONG.growing))
    return <Rendered source={source} finished={finished} />;
  return (
    <div class="block">
      <div class="plain" dir="auto">
        <Parts text={source} />
      </div>
      {finished && (
        <Button kind="link" onClick={() => ask(true)}>
          Format this long text
        </Button>
      )}
    </div>
  );
});

/** Code without colours: while it is written, and where it is too long for them. */
function PlainCode({ code, finished }: { code: string; finished: boolean }) {
  const store = useStore();
  return (
    <div class="block">
      <div class="code">
        <pre tabIndex={0} dir="ltr">
          <code>
            <Parts text={code} />
          </code>
        </pre>
        {finished && <CodeTools store={store} code={code} />}
      </div>
    </div>
  );
}

/** A long text, of which only what was added is laid out. */
function Parts({ text }: { text: string }) {
  return partsOf(text).map((part, index) => <Part key={index} text={part} />);
}

const Part = memo(function Part({ text }: { text: string }) {
  return <span class="part">{text}</span>;
});

function Rendered({ source, finished }: { source: string; finished: boolean }) {
  const store = useStore();
  const element = useRef<HTMLDivElement>(null);
  const html = useMemo(() => ({ __html: render(source, finished) }), [source, finished]);
  useEffect(() => {
    if (finished && element.current) addTools(element.current, store, fenceOf(source)?.code);
  }, [html, finished]);
  const follow = (event: MouseEvent): void => {
    const link = (event.target as Element | null)?.closest("a");
    if (!link) return;
    event.preventDefault();
    const href = link.getAttribute("href") ?? "";
    const target = linkTarget(href);
    if (target === "page") store.do({ do: "openLink", href });
    else if (target === "file") openFile(store, href);
  };
  return <div ref={element} class="block" onClick={follow} dangerouslySetInnerHTML={html} />;
}

/** A file, as a URI or relative to the session's folder, perhaps with a line. */
function openFile(store: Store, href: string): void {
  const [path = "", line] = href.split(/#L?|:(?=\d+$)/);
  const folder = store.view.session?.folder ?? store.view.settings.folders[0]?.uri;
  const inside = path.replace(/^(\.?\/)+/, "");
  const uri = path.startsWith("file:") ? path : folder && `${folder.replace(/\/$/, "")}/${inside}`;
  if (!uri) return;
  const number = Number.parseInt(line ?? "", 10);
  store.do({ do: "openFile", uri, ...(number > 0 ? { line: number - 1 } : {}) });
}

/**
 * Copy and insert, for each block of code. `code` is that of a block that is nothing else, as it was
 * written: on the page its line ends are not what they were.
 */
function addTools(element: HTMLElement, store: Store, code?: string): void {
  for (const pre of element.querySelectorAll("pre")) {
    if (pre.parentElement?.classList.contains("code")) continue;
    // It may scroll, so that the keyboard must get there; its tools stand still above it.
    pre.tabIndex = 0;
    const frame = document.createElement("div");
    frame.className = "code";
    const tools = document.createElement("div");
    pre.replaceWith(frame);
    frame.append(pre, tools);
    show(<CodeTools store={store} code={code ?? pre.textContent ?? ""} />, tools);
  }
}

function CodeTools({ store, code }: { store: Store; code: string }) {
  // The line end before the closing fence is none of the code's.
  const text = code.replace(/\r?\n$/, "");
  return (
    <span class="code-tools">
      <IconButton icon="copy" label="Copy" onClick={() => store.do({ do: "copy", text })} />
      <IconButton
        icon="insert"
        label="Insert at the cursor"
        onClick={() => store.do({ do: "insertCode", text })}
      />
    </span>
  );
}
