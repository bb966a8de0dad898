package io.millrace.proxy.admin;

import java.time.Duration;

/**
 * What one TCP connection of the admin API is held to.
 *
 * @param guard whom to refuse
 * @param place of the connection
 * @param refusals counts what is refused
 * @param wrongTokenDelay until a wrong token is answered
 */
record TcpClient(TcpGuard guard, TcpPlaces.Place place, TcpRefusals refusals, Duration wrongTokenDelay) {}
