// How components see the store: each is drawn again only when what it looks at has changed.

import { createContext } from "preact";
import { useContext, useLayoutEffect, useReducer, useRef } from "preact/hooks";
import type { Store, View } from "./store";

export const StoreContext = createContext<Store | undefined>(undefined);

export function useStore(): Store {
  const store = useContext(StoreContext);
  if (!store) throw new Error("a component stands outside of the app");
  return store;
}

/** A part of what the panel knows; compared as it is, and objects made here field by field. */
export function useView<T>(select: (view: View) => T): T {
  const store = useStore();
  const [, draw] = useReducer((count: number) => count + 1, 0);
  const latest = useRef({ select, value: undefined as T });
  latest.current = { select, value: select(store.view) };
  useLayoutEffect(() => {
    const look = (): void => {
      if (!same(latest.current.select(store.view), latest.current.value)) draw(undefined);
    };
    look();
    return store.subscribe(look);
  }, [store]);
  return latest.current.value;
}

function same(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (!isPlain(one) || !isPlain(other)) return false;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length
    && keys.every((key) => Object.is(one[key], other[key]))
  );
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}
