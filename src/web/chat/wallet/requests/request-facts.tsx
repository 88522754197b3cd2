import type { ReactNode } from 'react';
import type { PendingRequest, PendingTransaction } from '../../../../client/pending.js';
import { CopyButton } from '../../../parts/copy-button.js';
import { checksummed, shortAddress } from '../address.js';
import { grouped } from '../amounts.js';
import { readTokenCall, type TokenCall } from './calldata.js';
import { chainName, nativeAmount } from '../chains.js';
import type { Simulation } from './simulation.js';
import { amountOf } from './summary.js';
import { TypedData } from './typed-data.js';
import { visible } from '../visible.js';

/** Maximum length of calldata and JSON that the details show; more can be copied. In characters. */
const SHOWN = 20_000;

type Row = readonly [name: string, value: ReactNode];

/** What a request does: to whom, how much, on which chain, and what its simulation said. */
export function RequestFacts(props: {
  readonly request: PendingRequest;
  readonly simulation: Simulation | null;
}): ReactNode {
  const { request, simulation } = props;
  if (request.kind === 'transaction') {
    return (
      <Rows
        rows={[
          ['Amount', simulation?.amount ?? nativeAmount(request.value, request.chainId)],
          ['To', <Short key="to" address={request.to} />],
          ...tokenRows(request),
          ['Chain', chainName(request.chainId, simulation?.chain)],
          ['Simulation', simulation?.text ?? 'not known here'],
        ]}
      />
    );
  }
  const { typedData, text } = request;
  return (
    <>
      <Rows rows={[['Chain', chainName(request.chainId)]]} />
      {typedData === null ? (
        <pre className="signed-text" tabIndex={0} aria-label="Text to sign">
          {visible(text ?? '', SHOWN)}
        </pre>
      ) : (
        <TypedData data={typedData} />
      )}
    </>
  );
}

/** All of a request, exactly: whole addresses, wei, calldata. */
export function RequestDetails({ request }: { readonly request: PendingRequest }): ReactNode {
  const { from } = request;
  const signer: Row = ['From', from === null ? 'the bound wallet' : <Whole key="from" address={from} />];
  if (request.kind === 'signature') {
    const json = request.typedData === null ? null : JSON.stringify(request.typedData, null, 2);
    return (
      <Rows
        rows={[signer, ...(json === null ? [] : [['As JSON', <Raw key="json" text={json} />] as const])]}
      />
    );
  }
  const { to, value, data, gas } = request;
  const call = readTokenCall(data);
  return (
    <Rows
      rows={[
        signer,
        ['To', <Whole key="to" address={to} />],
        ...(call === null
          ? []
          : [[TOKEN_ROWS[call.action], <Whole key="token" address={call.to} />] as const]),
        ['Amount in wei', grouped(value)],
        ...(gas === null ? [] : [['Gas by the simulation', visible(gas, 80)] as const]),
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
    [TOKEN_ROWS[call.action], <Short key="token" address={call.to} />],
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

/** An address in short; the details show all of it. */
function Short({ address }: { readonly address: string }): ReactNode {
  return <code title={checksummed(address)}>{shortAddress(address)}</code>;
}

function Whole({ address }: { readonly address: string }): ReactNode {
  const text = checksummed(address);
  return (
    <span className="whole">
      <code>{text}</code>
      <CopyButton text={text} label={`Copy ${shortAddress(address)}`} />
    </span>
  );
}

function Raw({ text }: { readonly text: string }): ReactNode {
  return (
    <span className="whole">
      <pre tabIndex={0}>{visible(text, SHOWN)}</pre>
      <CopyButton text={text} label="Copy all of it" />
    </span>
  );
}
