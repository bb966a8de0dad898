package io.millrace.proxy.config.access;

import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;

/**
 * Limits of requests, connections and memory. Immutable.
 *
 * @param requestLineBytes longest request line
 * @param requestHeaderBytes longest field section of a request
 * @param responseHeaderBytes longest field section of an origin's response
 * @param requestBodyBytes longest request content; 0 for no limit
 * @param requestBodyRate minimum rate at which a client sends request content, in bytes per second; 0 for no limit
 * @param proxyProtocolHeaderBytes longest PROXY header
 * @param connections client connections at the same time
 * @param requestsPerConnection requests after which a client's connection is closed; 0 for no limit
 * @param memoryInFlightBytes bytes in flight at the same time; 0 to derive the limit from the memory of the JVM
 * @param responseRateMin minimum rate at which a client receives a response, in bytes per second; 0 for no limit
 * @param perClient limits of one client
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
