// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

/// A price feed with Chainlink's interface.
contract Feed {
    uint8 public immutable decimals;
    int256 private answer;
    uint256 private updatedAt;

    constructor(uint8 decimals_, int256 answer_, uint256 updatedAt_) {
        decimals = decimals_;
        set(answer_, updatedAt_);
    }

    function set(int256 answer_, uint256 updatedAt_) public {
        answer = answer_;
        updatedAt = updatedAt_;
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        return (1, answer, updatedAt, updatedAt, 1);
    }
}
