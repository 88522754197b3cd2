import type { MediaType } from '../../../src/surfaces/openapi/document.js';
import { findMistake } from './documents.js';
import type { Exchange } from './conformance.js';
import type { Promised } from './operations.js';

const FRAME = /^(?:id: (?<id>\d+)\n)?data: (?<data>\{.*\})$/;

/** What is wrong with the frames of a stream: their framing, their ids, and the objects in them. */
export function findStreamMistakes(
  { surface, document }: Promised,
  media: MediaType,
  { request, body }: Exchange,
): readonly string[] {
  const { 'x-event-schema': schema } = media;
  if (schema === undefined) return ['the events of the stream are not documented'];
  const logged = document.components.schemas.LoggedEvent;
  const hasIds =
    media['x-event-ids'] === 'logged' ||
    (media['x-event-ids'] === 'logged-with-cursor' && request !== undefined && hasCursor(request));
  const frames = body.split('\n\n');
  const rest = frames.pop();
  const broken = rest === '' ? [] : [`the stream ends within a frame: ${String(rest).slice(0, 200)}`];
  const mistakesOf = (frame: string): string[] => {
    if (/^:[^\n]*$/.test(frame)) return [];
    const { id, data } = FRAME.exec(frame)?.groups ?? {};
    if (data === undefined) return [`this is no frame: ${frame.slice(0, 200)}`];
    const event: unknown = JSON.parse(data);
    const mistake = findMistake(surface, schema, event);
    const needsId = hasIds && logged !== undefined && findMistake(surface, logged, event) === undefined;
    return [
      ...(mistake === undefined ? [] : [`the event ${data.slice(0, 300)}${mistake}`]),
      ...(needsId === (id !== undefined) ? [] : [`the event ${data.slice(0, 300)} has id ${String(id)}`]),
    ];
  };
  return [...broken, ...frames.flatMap(mistakesOf)];
}

function hasCursor({ url, headers }: NonNullable<Exchange['request']>): boolean {
  return headers['last-event-id'] !== undefined || /[?&]since=/.test(url);
}
