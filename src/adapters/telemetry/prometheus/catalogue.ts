import { Counter, Gauge, Histogram } from './instruments.js';

/** Bucket bounds in seconds: for store operations, HTTP requests, model responses and turns. */
const QUICK = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const REQUESTS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const SPEECH = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120];
const TURNS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640];

/** Creates all metrics of the service. Times are in seconds. */
export function createCatalogue() {
  return {
    build: new Gauge('diptych_build_info', 'Always 1; the labels hold the version.', ['version', 'node']),

    requests: new Counter('diptych_http_requests_total', 'Completed HTTP requests.', [
      ...['surface', 'method', 'route', 'status'],
    ]),
    requestSeconds: new Histogram(
      'diptych_http_request_duration_seconds',
      'Time from a request to the end of its response, without event streams.',
      REQUESTS,
      ['surface', 'method', 'route'],
    ),
    inFlight: new Gauge('diptych_http_requests_in_flight', 'Requests in progress, including event streams.'),
    streams: new Gauge('diptych_streams_open', 'Open event streams.', ['surface', 'route']),

    accepted: new Counter('diptych_messages_accepted_total', 'Messages that were stored.', ['app']),
    turns: new Counter('diptych_turns_total', 'Turns that ended.', ['app', 'rig', 'outcome']),
    turnsLeft: new Counter(
      'diptych_turns_left_total',
      'Attempts at turns that this process gave up without ending the turn.',
      ['reason'],
    ),
    turnsTaken: new Counter(
      'diptych_turns_taken_over_total',
      'Turns that this process took over because no process held their lease.',
    ),
    turnsRunning: new Gauge('diptych_turns_running', 'Turns that this process runs.'),
    turnsStored: new Gauge(
      'diptych_store_turns',
      'Queued and running turns of all processes on this store.',
      ['status'],
    ),
    turnSeconds: new Histogram(
      'diptych_turn_duration_seconds',
      'Time from the start of a turn to its end.',
      TURNS,
      ['rig', 'outcome'],
    ),
    waitSeconds: new Histogram(
      'diptych_turn_wait_seconds',
      'Time from the acceptance of a message to the start of its turn.',
      TURNS,
    ),
    firstTokenSeconds: new Histogram(
      'diptych_time_to_first_token_seconds',
      'Time from the start of a turn to its first text.',
      SPEECH,
      ['rig'],
    ),

    answers: new Counter('diptych_rig_requests_total', 'Requests to rigs.', ['rig', 'purpose', 'outcome']),
    answerSeconds: new Histogram(
      'diptych_rig_request_duration_seconds',
      'Time from a request to a rig to the end of its response.',
      SPEECH,
      ['rig', 'purpose'],
    ),
    answerFirstSeconds: new Histogram(
      'diptych_rig_first_token_seconds',
      'Time from a request to a rig to the first text of its response.',
      SPEECH,
      ['rig'],
    ),
    tokens: new Counter('diptych_tokens_total', 'Tokens, as providers report them.', ['rig', 'direction']),

    toolCalls: new Counter('diptych_tool_calls_total', 'Tool calls.', ['tool', 'outcome']),
    toolSeconds: new Histogram('diptych_tool_call_duration_seconds', 'Duration of tool calls.', REQUESTS, [
      'tool',
    ]),

    storeSeconds: new Histogram(
      'diptych_store_operation_duration_seconds',
      'Duration of store operations; writes end when they are durable.',
      QUICK,
      ['operation'],
    ),
    storeErrors: new Counter('diptych_store_errors_total', 'Failed store operations.', ['operation']),
    storeUp: new Gauge('diptych_store_up', '1 when the store could be read and written during this scrape.'),
    busUp: new Gauge('diptych_bus_up', '1 while Redis carries signals to other nodes.', ['bus']),
  };
}

/** All metrics, by the names that the code uses. */
export type Catalogue = ReturnType<typeof createCatalogue>;
