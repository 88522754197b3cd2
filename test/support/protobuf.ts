/** A field of a protobuf message: a number, or bytes whose meaning the schema knows (fixed-width numbers too). */
export interface Field {
  readonly number: number;
  readonly value: number | Buffer;
}

/** The fields of a message, in order. @throws Error when it is cut short or not protobuf */
export function readFields(bytes: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;

  function varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes.readUInt8(at++);
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  }

  function take(length: number): Buffer {
    if (at + length > bytes.length) throw new Error('the message is cut short');
    at += length;
    return bytes.subarray(at - length, at);
  }

  while (at < bytes.length) {
    const tag = varint();
    const number = Math.floor(tag / 8);
    switch (tag % 8) {
      case 0:
        fields.push({ number, value: varint() });
        break;
      case 1:
        fields.push({ number, value: take(8) });
        break;
      case 2:
        fields.push({ number, value: take(varint()) });
        break;
      case 5:
        fields.push({ number, value: take(4) });
        break;
      default:
        throw new Error('this is no protobuf');
    }
  }
  return fields;
}
