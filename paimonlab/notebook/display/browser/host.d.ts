/** What is chosen in a view; views of the same table follow it. */
export interface Selection {
  /** Id of a snapshot. */
  snapshot?: number;
  /** First and last snapshot, both included. */
  range?: [number, number];
  partition?: string;
  bucket?: number;
  /** Name of a data file. */
  file?: string;
  /** How the table of a result is sorted, filtered and searched. */
  rows?: { by?: number; descending?: boolean; search?: string; filters: [number, string][] | (string | number)[][] };
}

/** What surrounds a view: a page, a notebook with or without kernel, a widget. */
export interface Host {
  /** Tell the other views of the table, and Python, what was chosen. */
  select(selection: Selection): void;
  /** Hear what was chosen in other views of the table; returns how to stop. */
  onSelect(heard: (selection: Selection) => void): () => void;
  /** Ask the kernel; null where there is none. */
  ask: ((request: Record<string, unknown>) => Promise<Record<string, any>>) | null;
}

export interface Output<View> {
  kind: string;
  v: 1;
  /** Names this output in its kernel. */
  id: string;
  /** Views with the same link are of the same table. */
  link: string;
  view: View;
}

export interface Context<View> {
  data: Output<View>;
  el: HTMLElement;
  host: Host;
}
