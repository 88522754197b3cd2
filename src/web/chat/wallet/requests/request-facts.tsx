import type { ReactNode } from 'react';
import type { PendingRequest, PendingTransaction } from '../../../../client/pending.js';
import { CopyButton } from '../../../parts/copy-button.js';
import { checksummed } from '../address.js';
import { grouped } from '../amounts.js';
import { readTokenCall, type TokenCall } from './calldata.js';
import { chainName, nativeAmount } from '../chains.js';
import type { Simulation } from './simulation.js';
import { amountOf } from './summary.js';
import { Framed, Quote } from './framed.js';
import { TypedData } from './typed-data.js';
import { visible } from '../../../../client/visible-text.js';

/** Maximum length in characters of texts, calldata and JSON that the card shows; all of it can be copied. */
const MAX_SHOWN = 20_000;
/** A text with more lines or characters may overflow its frame, which scrolls. */
const MAX_VISIBLE_LINES = 8;
const MAX_VISIBLE_CHARACTERS = 250;

type Row = readonly [name: string, value: ReactNode];

/** The facts of a request: sender, recipient, amount, chain and the result of the simulation. Addresses are in full. */
export function RequestFacts(props: {
  readonly request: PendingRequest;
  readonly simulation: Simulation | null;
}): ReactNode {
  const { request, simulation } = props;
  const { from } = request;
  const signer: Row = ['From', from === null ? 'the bound wallet' : <Address key="from" address={from} />];
  if (request.kind === 'transaction') {
    return (
      <Rows
        rows={[
          signer,
          ['Amount', nativeAmount(request.value, request.chainId, simulation?.amount)],
          [request.data === '0x' ? 'To' : 'Contract', <Address key="to" address={request.to} />],
          ...tokenRows(request),
          ['Chain', chainName(request.chainId, simulation?.chain)],
          ['Simulation', <Simulated key="simulation" simulation={simulation} />],
        ]}
      />
    );
  }
  const { typedData, text } = request;
  return (
    <>
      <Rows rows={[signer, ['Chain', chainName(request.chainId)]]} />
      {typedData === null ? <TextToSign text={text ?? ''} /> : <TypedData data={typedData} />}
    </>
  );
}

function TextToSign({ text }: { readonly text: string }): ReactNode {
  const lines = text.split('\n').length;
  const mayScroll = lines > MAX_VISIBLE_LINES || text.length > MAX_VISIBLE_CHARACTERS;
  return (
    <Framed by="What you would sign: a text as the assistant gave it. The service does not vouch for it.">
      <span className="whole">
        <pre className="signed-text" tabIndex={0} aria-label="Text to sign">
          {visible(text, MAX_SHOWN)}
        </pre>
        <CopyButton text={text} label="Copy all" />
      </span>
      {mayScroll && (
        <p className="hint">
          The text has {lines} lines and {text.length} characters: scroll to read all of it.
        </p>
      )}
    </Framed>
  );
}

/** The result of a simulation. The reason of a failure is untrusted text of the contract. */
function Simulated({ simulation }: { readonly simulation: Simulation | null }): ReactNode {
  if (simulation === null) return 'not known here';
  const { text, reason } = simulation;
  return reason === null ? text : [text, <Quote key="reason" by="The contract’s words" text={reason} />];
}

/** The exact values of a request: wei, gas, calldata, JSON. Not for a text, which the card shows as it is. */
export function RequestDetails({ request }: { readonly request: PendingRequest }): ReactNode {
  if (request.kind === 'signature') {
    return (
      <Framed by="What you would sign, as JSON">
        <Raw text={JSON.stringify(request.typedData, null, 2)} />
      </Framed>
    );
  }
  const { value, data, gas } = request;
  return (
    <Rows
      rows={[
        ['Amount in wei', grouped(value)],
        ...(gas === null ? [] : [['Simulated gas', grouped(BigInt(gas))] as const]),
        ['Data', data === '0x' ? 'none: a plain transfer' : <Raw key="data" text={data} />],
      ]}
    />
  );
}

const TOKEN_ROWS = {
  ...{ approve: 'Spender', increaseAllowance: 'Spender', setApprovalForAll: 'Spender' },
  ...{ transfer: 'Receiver', transferFrom: 'Receiver' },
} as const satisfies Record<TokenCall['action'], string>;

function tokenRows({ data }: PendingTransaction): readonly Row[] {
  if (data === '0x') return [];
  const call = readTokenCall(data);
  const bytes = String((data.length - 2) / 2);
  if (call === null) return [['Call', `${data.slice(0, 10)}, ${bytes} bytes`]];
  return [
    ['Call', `${call.action} of a token`],
    ...(call.from === null ? [] : [['Owner', <Address key="owner" address={call.from} />] as const]),
    [TOKEN_ROWS[call.action], <Address key="token" address={call.to} />],
    ['Tokens', amountOf(call)],
  ];
}

function Rows({ rows }: { readonly rows: readonly Row[] }): ReactNode {
  return (
    <dl className="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** An address in full: shortened, it could look like another one. */
function Address({ address }: { readonly address: string }): ReactNode {
  const text = checksummed(address);
  return (
    <span className="whole">
      <code>{text}</code>
      <CopyButton text={text} label={`Copy ${text}`} />
    </span>
  );
}

function Raw({ text }: { readonly text: string }): ReactNode {
  return (
    <span className="whole">
      <pre tabIndex={0}>{visible(text, MAX_SHOWN)}</pre>
      <CopyButton text={text} label="Copy all" />
    </span>
  );
}
