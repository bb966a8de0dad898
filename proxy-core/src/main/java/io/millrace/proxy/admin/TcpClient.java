package io.millrace.proxy.admin;

import java.time.Duration;

/**
 * The limits of a TCP connection of the admin API.
 *
 * @param guard checks requests
 * @param place place of the connection
 * @param refusals counts refused requests
 * @param wrongTokenDelay delay of the answer to a wrong token
 */
record TcpClient(TcpGuard guard, TcpPlaces.Place place, TcpRefusals refusals, Duration wrongTokenDelay) {}
