import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import process from 'node:process';
import { createPublicClient, createWalletClient, http, parseAbi, parseUnits } from 'viem';
import { foundry } from 'viem/chains';
import { startChild } from './child.mjs';

const ABI = {
  Token: parseAbi([
    'constructor(string symbol, uint256 supply)',
    'function transfer(address to, uint256 value)',
  ]),
  Feed: parseAbi(['constructor(int256 answer)']),
};

/** Starts a node of a chain of our own (chain id 31337) on a free port: anvil, with ten accounts of 10,000 ETH each. */
export async function startNode() {
  const child = startChild('anvil', findAnvil(), ['--port', '0']);
  const [, address] = await child.says(/Listening on (\S+)/);
  return { ...child, url: `http://${address}` };
}

/** The program itself, and not the package's script, so that ending the process ends the node. */
function findAnvil() {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const name = `@foundry-rs/anvil-${process.platform}-${arch}`;
  try {
    return createRequire(import.meta.url).resolve(`${name}/bin/anvil${suffix}`);
  } catch (cause) {
    throw new Error(`${name} is not installed; npm ci installs it where it exists`, { cause });
  }
}

/** Deploys a token, gives some of it to a wallet, and deploys a price feed. Returns their addresses, and those of the wallet and the desk. */
export async function deployContracts(url) {
  const bytecode = JSON.parse(readFileSync(new URL('contracts/Desk.json', import.meta.url), 'utf8'));
  const options = { chain: foundry, transport: http(url), pollingInterval: 50 };
  const reader = createPublicClient(options);
  const [account, wallet, payee] = await createWalletClient(options).getAddresses();
  const owner = createWalletClient({ ...options, account });
  const mined = async (hash) => reader.waitForTransactionReceipt({ hash: await hash });
  const deploy = async (name, args) => {
    const receipt = await mined(owner.deployContract({ abi: ABI[name], bytecode: bytecode[name], args }));
    return receipt.contractAddress;
  };

  const token = await deploy('Token', ['DUSD', parseUnits('1000000', 6)]);
  await mined(
    owner.writeContract({
      abi: ABI.Token,
      address: token,
      functionName: 'transfer',
      args: [wallet, parseUnits('2500.75', 6)],
    }),
  );
  const feed = await deploy('Feed', [parseUnits('3150.12', 8)]);
  return { token, feed, wallet, payee };
}
