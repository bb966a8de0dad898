package io.millrace.wasm.callout;

import java.net.URI;
import java.net.URISyntaxException;
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

    private static final String NO_PATH = "the pseudo field :path is not a path";
    private static final char LAST_PRINTABLE = '~';
    private static final char LAST_ASCII = '\u007f';

    /** Characters that many clients send without percent-encoding, although a URI must not contain them. */
    private static final String NOT_IN_URI = "\"<>\\^`{|}";

    private CalloutRequest() {}

    /**
     * Translates a call.
     *
     * @param upstream URL with scheme, host and port
     * @param namesAndValues names and values in turn, pseudo fields included
     * @throws IllegalArgumentException if a pseudo field is missing, or a part of the request is not valid. The message
     *     is one of few texts, without any part of the request
     */
    public static HttpRequest of(URI upstream, List<String> namesAndValues, byte[] body) {
        Map<String, String> pseudo = new HashMap<>();
        HttpRequest.Builder request = HttpRequest.newBuilder();
        for (int i = 0; i < namesAndValues.size(); i += 2) {
            String name = namesAndValues.get(i).toLowerCase(Locale.ROOT);
            if (name.startsWith(":")) {
                pseudo.put(name, namesAndValues.get(i + 1));
            } else if (!NOT_SENT.contains(name)) {
                add(request, name, namesAndValues.get(i + 1));
            }
        }
        required(pseudo, ":authority");
        URI url = url(upstream, required(pseudo, ":path"));
        String method = required(pseudo, ":method");
        HttpRequest.BodyPublisher content =
                body.length == 0 ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofByteArray(body);
        try {
            return request.uri(url).method(method, content).build();
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("the pseudo field :method is not a method", e);
        }
    }

    /** Adds a field. The HTTP client would replace characters beyond ASCII by question marks. */
    private static void add(HttpRequest.Builder request, String name, String value) {
        for (int i = 0; i < value.length(); i++) {
            if (value.charAt(i) > LAST_PRINTABLE) {
                throw new IllegalArgumentException("the value of a field has a character beyond printable ASCII");
            }
        }
        try {
            request.header(name, value);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("the name or the value of a field is not valid", e);
        }
    }

    /**
     * Returns the URL of a path. Percent-encodes bytes that a URI must not contain, but refuses spaces and control
     * characters.
     */
    private static URI url(URI upstream, String path) {
        if (!path.startsWith("/") || path.indexOf('#') >= 0) {
            throw new IllegalArgumentException(NO_PATH);
        }
        StringBuilder url = new StringBuilder().append(upstream);
        int query = path.indexOf('?');
        for (int i = 0; i < path.length(); i++) {
            char c = path.charAt(i);
            // The texts of the ABI have one character for each byte.
            if (c > LAST_ASCII
                    || NOT_IN_URI.indexOf(c) >= 0
                    || (c == '%' && !isEncoded(path, i))
                    || ((c == '[' || c == ']') && (query < 0 || i < query))) {
                url.append('%').append(Integer.toHexString(c).toUpperCase(Locale.ROOT));
            } else {
                url.append(c);
            }
        }
        try {
            return new URI(url.toString());
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException(NO_PATH, e);
        }
    }

    /** True if two hexadecimal digits follow a percent sign. */
    private static boolean isEncoded(String path, int at) {
        return at + 2 < path.length() && isHex(path.charAt(at + 1)) && isHex(path.charAt(at + 2));
    }

    private static boolean isHex(char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    }

    private static String required(Map<String, String> pseudo, String name) {
        String value = pseudo.get(name);
        if (value == null || value.isEmpty()) {
            throw new IllegalArgumentException("the call has no pseudo field " + name);
        }
        return value;
    }
}
