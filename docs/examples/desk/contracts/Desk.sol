// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

/// A dollar for the desk: what of ERC-20 an example needs.
contract Token {
    string public symbol;
    uint8 public constant decimals = 6;
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 value);

    constructor(string memory symbol_, uint256 supply) {
        symbol = symbol_;
        balanceOf[msg.sender] = supply;
        emit Transfer(address(0), msg.sender, supply);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
        return true;
    }
}

/// A price that stays as it is, with Chainlink's interface.
contract Feed {
    uint8 public constant decimals = 8;
    int256 private immutable answer;
    uint256 private immutable updatedAt;

    constructor(int256 answer_) {
        answer = answer_;
        updatedAt = block.timestamp;
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        return (1, answer, updatedAt, updatedAt, 1);
    }
}
