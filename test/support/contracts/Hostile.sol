// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

/// Returns data that is encoded to be expensive to decode.
contract Hostile {
    /// An array of `count` bytes values whose offsets all point at one value of `size` bytes.
    function aliased(uint256 count, uint256 size) external pure returns (bytes[] memory) {
        assembly {
            let data := mload(0x40)
            mstore(data, 32)
            mstore(add(data, 32), count)
            for { let i := 0 } lt(i, count) { i := add(i, 1) } { mstore(add(data, add(64, mul(i, 32))), mul(count, 32)) }
            let blob := add(data, add(64, mul(count, 32)))
            mstore(blob, size)
            return(data, add(add(blob, 32), size))
        }
    }

    /// An array without values that says that it has 2^32 - 1.
    function empty() external pure returns (uint256[] memory) {
        assembly {
            mstore(0, 32)
            mstore(32, 0xffffffff)
            return(0, 64)
        }
    }

    /// `size` bytes of data.
    function large(uint256 size) external pure returns (bytes memory) {
        assembly {
            let data := mload(0x40)
            mstore(data, 32)
            mstore(add(data, 32), sub(size, 64))
            return(data, size)
        }
    }

    /// Fails with `size` bytes of data.
    function fail(uint256 size) external pure returns (bytes memory) {
        assembly {
            revert(mload(0x40), size)
        }
    }
}
