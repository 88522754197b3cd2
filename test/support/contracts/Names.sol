// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

/// A universal resolver with ENS's interface (ENSIP-23) over names that are put into it.
contract Names {
    error ResolverNotFound(bytes name);
    error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callback, bytes extraData);

    mapping(bytes32 => mapping(uint256 => bytes)) private records;
    mapping(bytes32 => string) private gateways;
    mapping(bytes => string) private primary;

    function setAddress(bytes calldata name, uint256 coinType, bytes calldata address_) external {
        records[keccak256(name)][coinType] = address_;
    }

    function setGateway(bytes calldata name, string calldata url) external {
        gateways[keccak256(name)] = url;
    }

    function setPrimary(bytes calldata address_, string calldata name) external {
        primary[address_] = name;
    }

    function resolveWithGateways(bytes calldata name, bytes calldata data, string[] calldata)
        external
        view
        returns (bytes memory, address)
    {
        bytes32 key = keccak256(name);
        if (bytes(gateways[key]).length > 0) {
            string[] memory urls = new string[](1);
            urls[0] = gateways[key];
            revert OffchainLookup(address(this), urls, data, this.answered.selector, "");
        }
        bool isPlain = bytes4(data) == bytes4(keccak256("addr(bytes32)"));
        uint256 coinType = isPlain ? 60 : abi.decode(data[36:], (uint256));
        bytes memory found = records[key][coinType];
        if (records[key][60].length == 0) revert ResolverNotFound(name);
        if (isPlain) return (abi.encode(address(bytes20(found))), address(this));
        return (abi.encode(found), address(this));
    }

    function answered(bytes calldata response, bytes calldata) external view returns (bytes memory, address) {
        return (response, address(this));
    }

    function reverseWithGateways(bytes calldata address_, uint256, string[] calldata)
        external
        view
        returns (string memory, address, address)
    {
        return (primary[address_], address(this), address(this));
    }
}
