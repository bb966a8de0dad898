package io.millrace.proxy.admin.resource;

import io.netty.handler.codec.http.QueryStringDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One complete request to the admin API. Immutable; the body is not copied and must not be changed.
 *
 * @param method the method
 * @param target the request target as received: path and query
 * @param path the decoded path
 * @param body the content, may be empty; never longer than {@code AdminServer#MAX_BODY_BYTES}
 * @param overTcp whether the request came over TCP, and not from a user of this machine over the Unix domain socket
 * @param caller the client
 * @param fields the fields of {@link #FIELDS} that the request has, by name; repeated fields are joined by a space
 * @param sender the connection of the client, with all header fields
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record AdminRequest(
        String method,
        String target,
        String path,
        byte[] body,
        boolean overTcp,
        AdminCaller caller,
        Map<String, String> fields,
        RequestSender sender) {
    /** The request fields that resources read. */
    public static final List<String> FIELDS = List.of("accept", "fastly-soft-purge", "surrogate-key");

    /** Limit of query parameters. A lookup has the most: one URL and some header fields. */
    private static final int MAX_PARAMETERS = 128;

    /** Creates a request of a local client, without fields. */
    public AdminRequest(String method, String target, String path, byte[] body, boolean overTcp, AdminCaller caller) {
        this(method, target, path, body, overTcp, caller, Map.of());
    }

    /** Creates a request of a local client. */
    public AdminRequest(
            String method,
            String target,
            String path,
            byte[] body,
            boolean overTcp,
            AdminCaller caller,
            Map<String, String> fields) {
        this(method, target, path, body, overTcp, caller, fields, RequestSender.LOCAL);
    }

    /** Creates a request of an unknown client. */
    public AdminRequest(String method, String target, String path, byte[] body, boolean overTcp) {
        this(method, target, path, body, overTcp, AdminCaller.UNKNOWN);
    }

    /**
     * Returns the decoded values of a query parameter in order; empty without the parameter. Only {@code &} separates
     * parameters, because a URL in a value may have semicolons.
     *
     * @throws AdminException if the query cannot be decoded, or exceeds the limit of parameters
     */
    public List<String> parameters(String name) throws AdminException {
        if (target.chars().filter(c -> c == '&').count() >= MAX_PARAMETERS) {
            throw new AdminException(
                    400,
                    "bad-request",
                    "the query has more than " + MAX_PARAMETERS + " parameters; request fewer at once");
        }
        try {
            return new QueryStringDecoder(target, StandardCharsets.UTF_8, true, MAX_PARAMETERS, true)
                    .parameters()
                    .getOrDefault(name, List.of());
        } catch (IllegalArgumentException e) {
            throw new AdminException(
                    400, "bad-request", "the query has an invalid percent-encoding: " + e.getMessage());
        }
    }

    /**
     * Returns the value of an optional query parameter that is a whole number.
     *
     * @param defaultValue the result without the parameter
     * @throws AdminException if the value is not a number from min to max
     */
    public long number(String name, long min, long max, long defaultValue) throws AdminException {
        String text = optionalParameter(name);
        if (text == null) {
            return defaultValue;
        }
        try {
            long number = Long.parseLong(text);
            if (number >= min && number <= max) {
                return number;
            }
        } catch (NumberFormatException e) {
            // A text that is not a number is handled below like a number out of range.
        }
        throw new AdminException(
                400, "bad-request", name + ": '" + text + "' is not a number from " + min + " to " + max);
    }

    /** Returns the value of a query parameter that is required exactly once. */
    public String parameter(String name) throws AdminException {
        List<String> values = parameters(name);
        if (values.size() != 1 || values.get(0).isEmpty()) {
            throw new AdminException(400, "bad-request", "the query parameter '" + name + "' is required exactly once");
        }
        return values.get(0);
    }

    /**
     * Returns the value of an optional query parameter; null without the parameter. A repeated or empty parameter is
     * an error.
     */
    public @Nullable String optionalParameter(String name) throws AdminException {
        List<String> values = parameters(name);
        if (values.size() > 1) {
            throw new AdminException(400, "bad-request", "the query parameter '" + name + "' is given twice");
        }
        if (values.size() == 1 && values.get(0).isEmpty()) {
            throw new AdminException(
                    400, "bad-request", "the query parameter '" + name + "' is empty; omit the parameter for no value");
        }
        return values.isEmpty() ? null : values.get(0);
    }
}
