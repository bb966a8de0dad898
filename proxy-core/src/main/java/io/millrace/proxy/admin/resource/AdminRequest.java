package io.millrace.proxy.admin.resource;

import io.netty.handler.codec.http.QueryStringDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One request to the admin API, read whole. Immutable; the body is not copied and nobody changes it.
 *
 * @param method the method
 * @param target the request target as received: path and query
 * @param path the decoded path
 * @param body the content, empty when there is none; never longer than {@code AdminServer#MAX_BODY_BYTES}
 * @param overTcp whether it came over TCP, from anywhere, and not over the Unix domain socket, from a user of this machine
 * @param caller the client
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record AdminRequest(
        String method, String target, String path, byte[] body, boolean overTcp, AdminCaller caller) {
    /** A bound on parameters; a lookup takes one URL and some header fields. */
    private static final int MAX_PARAMETERS = 128;

    /** Creates a request of an unknown client. */
    public AdminRequest(String method, String target, String path, byte[] body, boolean overTcp) {
        this(method, target, path, body, overTcp, AdminCaller.UNKNOWN);
    }

    /**
     * The decoded values of a query parameter, in order; empty when it is absent. Nothing but {@code &} stands between parameters: a
     * semicolon belongs to the URL that is asked about.
     *
     * @throws AdminException if the query cannot be decoded, or has more parameters than are read
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

    /** The value of a query parameter that must be there once. */
    public String parameter(String name) throws AdminException {
        List<String> values = parameters(name);
        if (values.size() != 1 || values.get(0).isEmpty()) {
            throw new AdminException(400, "bad-request", "the query parameter '" + name + "' is required exactly once");
        }
        return values.get(0);
    }

    /**
     * The value of a query parameter that need not be there; null when it is not. One that is there twice, or without a value, is
     * refused: what was meant is not known.
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
