// What is offered while one types: files after `@`, commands after `/`.

import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Chip } from "../shared/messages";
import { pictureType } from "../shared/pictures";
import { matching, run, type SlashCommand } from "./slash";
import { useStore, useView } from "./use";

/** The most files that are offered at once. */
const OFFERED = 8;

interface Offer {
  id: string;
  label: string;
  detail: string;
  take(): void;
}

export interface Offered {
  offers: Offer[];
  at: number;
  /** The id of the offer that is chosen now. */
  active: string | undefined;
  write(text: string, caret: number): void;
  /** Whether this key was meant for the offers. */
  key(event: KeyboardEvent): boolean;
  /** Run the command that is written, if it is one. */
  runSlash(): boolean;
  dismiss(): void;
}

export function useSuggestions(field: RefObject<HTMLTextAreaElement>): Offered {
  const store = useStore();
  const draft = useView((view) => view.draft);
  const [files, setFiles] = useState<Chip[]>([]);
  const [at, setAt] = useState(0);
  const [dismissed, setDismissed] = useState(false);
  const asked = useRef(0);
  /** Where the caret stands once the draft was changed for the person. */
  const place = useRef<number | undefined>(undefined);
  useLayoutEffect(() => {
    if (place.current !== undefined) field.current?.setSelectionRange(place.current, place.current);
    place.current = undefined;
  }, [draft]);

  const write = (text: string, caret: number): void => {
    store.compose(text);
    setAt(0);
    setDismissed(false);
    const mine = ++asked.current;
    const word = /(?:^|\s)@(\S*)$/.exec(text.slice(0, caret))?.[1];
    if (word === undefined) return setFiles([]);
    void store.findFiles(word).then((chips) => {
      // Else it was typed on meanwhile.
      if (mine === asked.current) setFiles(chips.slice(0, OFFERED));
    });
  };
  const dismiss = (): void => {
    asked.current++;
    setFiles([]);
    setDismissed(true);
  };
  const take = (chip: Chip): void => {
    const now = store.view.draft;
    const caret = field.current?.selectionStart ?? now.length;
    // What is in a picture is read by the host.
    if (chip.uri && pictureType(chip.uri)) store.do({ do: "drop", uris: [chip.uri] });
    else store.addChips([chip]);
    const before = now.slice(0, caret).replace(/@\S*$/, "");
    store.compose(before + now.slice(caret));
    dismiss();
    field.current?.focus();
    place.current = before.length;
  };
  const begin = (command: SlashCommand): void => {
    store.compose("");
    dismiss();
    void run(command, store);
  };
  const slashes = !dismissed && draft.startsWith("/") ? matching(draft) : [];
  const offers: Offer[] = files.length
    ? files.map((chip) => ({
        id: `offer-${chip.id}`,
        label: chip.label,
        detail: chip.detail,
        take: () => take(chip),
      }))
    : slashes.map((one) => ({
        id: `offer-${one.name}`,
        label: `/${one.name}`,
        detail: one.says,
        take: () => begin(one),
      }));

  const key = (event: KeyboardEvent): boolean => {
    if (!offers.length || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey)
      return false;
    if (event.key === "ArrowDown") setAt((at + 1) % offers.length);
    else if (event.key === "ArrowUp") setAt((at + offers.length - 1) % offers.length);
    else if (event.key === "Escape") dismiss();
    else if (event.key === "Enter" || event.key === "Tab") offers[at]?.take();
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  const runSlash = (): boolean => {
    const command = draft.startsWith("/") ? matching(draft.trim())[0] : undefined;
    if (!command || `/${command.name}` !== draft.trim()) return false;
    begin(command);
    return true;
  };
  return { offers, at, active: offers[at]?.id, write, key, runSlash, dismiss };
}

export function Suggestions({ offers, at, active }: Offered) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView?.({ block: "nearest" });
  }, [active]);
  if (!offers.length) return <div id="composer-list" hidden />;
  return (
    <div ref={list} id="composer-list" class="completions" role="listbox" aria-label="Suggestions">
      {offers.map((offer, index) => (
        <div
          role="option"
          id={offer.id}
          key={offer.id}
          aria-selected={index === at}
          onMouseDown={(event) => {
            event.preventDefault(); // the field keeps the focus
            offer.take();
          }}
        >
          <span class="offer-label">{offer.label}</span>
          <span class="offer-detail" dir="auto">
            {offer.detail}
          </span>
        </div>
      ))}
    </div>
  );
}
