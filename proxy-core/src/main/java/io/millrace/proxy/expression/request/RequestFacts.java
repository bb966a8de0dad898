package io.millrace.proxy.expression.request;

import io.millrace.proxy.http.IpAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The values of expression fields for one request and its response. Conditions of rules read them.
 *
 * <p>Confined to the thread that evaluates the condition.
 */
public interface RequestFacts {
    /** The method, such as {@code GET}. */
    String method();

    /** {@code http} or {@code https}. */
    String scheme();

    /** The host of the URL in lower case, without its port. */
    String host();

    /** The port of the URL. */
    long port();

    /** The path in the normal form of cache keys, without the query. */
    String path();

    /** The query as received, without the question mark; empty for none. */
    String query();

    /** Returns the values of the query parameters with this name, as received. */
    List<String> parameters(String name);

    /** Returns the values of the request's field lines with this name. */
    List<String> requestHeader(String name);

    /** Returns the values of the cookies with this name. */
    List<String> cookies(String name);

    /** The client's address: that of the connection, or that in a trusted PROXY header; null if unknown. */
    @Nullable
    IpAddress client();

    /** The country of the client's address, such as {@code DE}; null if unknown. */
    @Nullable
    String country();

    /** The continent of the client's address, such as {@code EU}; null if unknown. */
    @Nullable
    String continent();

    /** The number of the autonomous system of the client's address; negative if unknown. */
    long asn();

    /** The client's protocol, such as {@code http/1.1} or {@code http/2}. */
    String protocol();

    /** Time since midnight, local time of this machine, in nanoseconds. */
    long timeOfDayNanos();

    /** Day of the week, 1 for Monday to 7 for Sunday. */
    long weekday();

    /** A number from 0 to 99, the same for all rules of the request. */
    long random();

    /** The status of the response; 0 before the response is known. */
    long status();

    /** The cache result as a metric label, such as {@code hit}; empty before the response is known. */
    String cacheResult();

    /** Returns the values of the response's field lines with this name, as received or stored. */
    List<String> responseHeader(String name);
}
