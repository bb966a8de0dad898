package io.millrace.proxy.admin;

import java.time.Duration;

/**
 * The limits of a TCP connection of the admin API.
 *
 * @param guard checks requests
 * @param slot the slot that the connection takes
 * @param refusals counts refused requests
 * @param wrongTokenDelay delay of the answer to a wrong token
 */
record TcpLimits(TcpGuard guard, TcpSlots.Slot slot, TcpRefusals refusals, Duration wrongTokenDelay) {}
