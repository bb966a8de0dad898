package io.millrace.proxy.config.access;

import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;

/**
 * How much one client or origin may ask for. Immutable.
 *
 * @param requestLineBytes longest request line
 * @param requestHeaderBytes longest field section of a request
 * @param responseHeaderBytes longest field section of an origin's response
 * @param requestBodyBytes longest request content; 0 for no limit
 * @param requestBodyRate bytes of request content a second that a client has to send; 0 for no limit
 * @param proxyProtocolHeaderBytes longest PROXY header
 * @param connections client connections at the same time
 * @param requestsPerConnection requests after which a client's connection is closed; 0 for no limit
 * @param memoryInFlightBytes bytes in flight at the same time; 0 for what the JVM has memory for
 * @param responseRateMin bytes a second that a client has to take of a response; 0 for none
 * @param perClient how much one client may take at the same time
 */
public record Limits(
        int requestLineBytes,
        int requestHeaderBytes,
        int responseHeaderBytes,
        long requestBodyBytes,
        long requestBodyRate,
        int proxyProtocolHeaderBytes,
        int connections,
        int requestsPerConnection,
        long memoryInFlightBytes,
        long responseRateMin,
        ClientLimitsConfig perClient) {
    public static Limits from(ConfigValues values) {
        return new Limits(
                Math.toIntExact(values.get(ConfigKeys.LIMITS_REQUEST_LINE)),
                Math.toIntExact(values.get(ConfigKeys.LIMITS_REQUEST_HEADER)),
                Math.toIntExact(values.get(ConfigKeys.LIMITS_RESPONSE_HEADER)),
                values.get(ConfigKeys.LIMITS_REQUEST_BODY),
                values.get(ClientLimitKeys.REQUEST_BODY_RATE),
                Math.toIntExact(values.get(ProxyProtocolKeys.HEADER_MAX)),
                values.get(ConfigKeys.LIMITS_CONNECTIONS),
                values.get(ConfigKeys.LIMITS_REQUESTS_PER_CONNECTION),
                values.get(ConfigKeys.LIMITS_MEMORY_IN_FLIGHT),
                values.get(ConfigKeys.LIMITS_RESPONSE_RATE_MIN),
                ClientLimitsConfig.from(values));
    }
}
