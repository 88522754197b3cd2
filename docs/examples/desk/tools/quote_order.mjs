const FEE = 0.0025;

/** Quotes an order. The fee is waived for clients that have stored a voucher in the App's secret slot. */
export const tool = {
  name: 'quote_order',
  description: 'Says what an order at this desk costs, fee included. Look the price up first.',
  parameters: {
    type: 'object',
    properties: {
      amount: { type: 'number', exclusiveMinimum: 0, description: 'How much to buy, such as 2.5.' },
      price: { type: 'number', exclusiveMinimum: 0, description: 'Dollars for one.' },
    },
    required: ['amount', 'price'],
    additionalProperties: false,
  },
  sideEffects: 'none',
  run({ amount, price }, { secrets, wallet }) {
    if (wallet === null) throw new Error('Connect a wallet first: orders are settled to it.');
    const cost = amount * price;
    const fee = secrets.has('VOUCHER') ? 0 : cost * FEE;
    const total = (cost + fee).toFixed(2);
    return { text: `${total} USD, of which ${fee.toFixed(2)} USD are the fee, settled to ${wallet}.`, total };
  },
};
