package io.millrace.wasm.callout;

import java.net.URI;
import java.net.http.HttpRequest;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** The translation of a module's call to a request of the HTTP client. */
public final class CalloutRequest {
    /** Fields that the HTTP client writes itself, or that describe the connection. */
    private static final Set<String> NOT_SENT = Set.of(
            "connection",
            "content-length",
            "expect",
            "host",
            "keep-alive",
            "proxy-connection",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade");

    private CalloutRequest() {}

    /**
     * Translates a call.
     *
     * @param upstream URL with scheme, host and port
     * @param namesAndValues names and values in turn, pseudo fields included
     * @throws IllegalArgumentException if a pseudo field is missing, or a part of the request is not valid
     */
    public static HttpRequest of(URI upstream, List<String> namesAndValues, byte[] body) {
        Map<String, String> pseudo = new HashMap<>();
        HttpRequest.Builder request = HttpRequest.newBuilder();
        for (int i = 0; i < namesAndValues.size(); i += 2) {
            String name = namesAndValues.get(i).toLowerCase(Locale.ROOT);
            if (name.startsWith(":")) {
                pseudo.put(name, namesAndValues.get(i + 1));
            } else if (!NOT_SENT.contains(name)) {
                request.header(name, namesAndValues.get(i + 1));
            }
        }
        required(pseudo, ":authority");
        String path = required(pseudo, ":path");
        if (!path.startsWith("/") || path.indexOf('#') >= 0) {
            throw new IllegalArgumentException("the pseudo field :path of the call is not a path: " + path);
        }
        return request.uri(URI.create(upstream + path))
                .method(
                        required(pseudo, ":method"),
                        body.length == 0
                                ? HttpRequest.BodyPublishers.noBody()
                                : HttpRequest.BodyPublishers.ofByteArray(body))
                .build();
    }

    private static String required(Map<String, String> pseudo, String name) {
        String value = pseudo.get(name);
        if (value == null || value.isEmpty()) {
            throw new IllegalArgumentException("the call has no pseudo field " + name);
        }
        return value;
    }
}
