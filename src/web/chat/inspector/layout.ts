import { useState } from 'react';
import { readStoredJson, store } from '../../parts/storage.js';

/** Whether the inspector is open beside the conversation, and how wide it is, in pixels. */
export interface InspectorLayout {
  readonly isOpen: boolean;
  readonly width: number;
}

const STORED = 'diptych.inspector';
/** The narrowest and the widest inspector, in pixels. */
export const MIN_WIDTH = 280;
export const MAX_WIDTH = 960;
const CLOSED: InspectorLayout = { isOpen: false, width: 400 };

/** Returns a width within the bounds, which leave room for the conversation. */
export function boundedWidth(width: number): number {
  const most = Math.max(MIN_WIDTH, Math.min(MAX_WIDTH, Math.round(innerWidth * 0.5)));
  return Math.min(Math.max(Math.round(width), MIN_WIDTH), most);
}

/** The layout, which the browser remembers; closed until somebody opens it. */
export function useInspectorLayout(): readonly [InspectorLayout, (some: Partial<InspectorLayout>) => void] {
  const [layout, setLayout] = useState(readLayout);
  const change = (some: Partial<InspectorLayout>): void => {
    const next = { ...layout, ...some };
    store('browser', STORED, JSON.stringify(next));
    setLayout(next);
  };
  return [layout, change];
}

function readLayout(): InspectorLayout {
  const value = readStoredJson('browser', STORED);
  if (typeof value !== 'object' || value === null) return CLOSED;
  const isOpen = 'isOpen' in value && value.isOpen === true;
  const isWide = 'width' in value && typeof value.width === 'number' && Number.isFinite(value.width);
  return { isOpen, width: isWide ? boundedWidth(Number(value.width)) : CLOSED.width };
}
