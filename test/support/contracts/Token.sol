// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

/// A token with six decimals, and functions that fail in every way that there is.
contract Token {
    error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed);
    error Unheard(uint256 code);
    error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callback, bytes extraData);

    struct Pair {
        address owner;
        uint256 amount;
    }

    string public symbol;
    uint8 public constant decimals = 6;
    mapping(address => uint256) public balanceOf;

    constructor(string memory symbol_, uint256 supply) {
        symbol = symbol_;
        balanceOf[msg.sender] = supply;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        uint256 balance = balanceOf[msg.sender];
        if (balance < amount) revert ERC20InsufficientBalance(msg.sender, balance, amount);
        balanceOf[msg.sender] = balance - amount;
        balanceOf[to] += amount;
        return true;
    }

    function describe(address owner) external view returns (uint256 balance, string memory unit) {
        return (balanceOf[owner], symbol);
    }

    function total(Pair[] calldata pairs, int8 sign, bytes2 tag, bool[2] calldata flags)
        external
        pure
        returns (int256 sum, bytes2 same, bool both)
    {
        for (uint256 i = 0; i < pairs.length; i++) sum += int256(pairs[i].amount);
        return (sum * sign, tag, flags[0] && flags[1]);
    }

    function failWithReason() external pure returns (uint256) {
        revert("the market is closed");
    }

    function failWithPanic(uint256 zero) external pure returns (uint256) {
        return 1 / zero;
    }

    function failWithUnheard() external pure returns (uint256) {
        revert Unheard(7);
    }

    function failSilently() external pure returns (uint256) {
        assembly {
            revert(0, 0)
        }
    }

    /// Asks the caller to fetch a URL of the contract's choice (ERC-3668).
    function lure(string calldata url) external view returns (uint256) {
        string[] memory urls = new string[](1);
        urls[0] = url;
        revert OffchainLookup(address(this), urls, "", this.lure.selector, "");
    }
}

/// A token of the old kind, whose symbol is 32 bytes.
contract OldToken {
    bytes32 public constant symbol = "MKR";
    uint8 public constant decimals = 18;

    function balanceOf(address) external pure returns (uint256) {
        return 1.5 ether;
    }
}
