package io.millrace.wasm;

import io.millrace.proxy.spi.Answer;
import io.millrace.wasm.abi.HeaderMap;
import io.millrace.wasm.abi.Status;
import io.millrace.wasm.body.BodyBuffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The state of one message for the callbacks of a module. A message is a request, the head of a response, or the
 * content of a response. The state consists of the values that the module may read, and its changes. A paused request
 * has several callbacks. Used by one thread at a time.
 */
final class HttpContext {
    /** The number of the map of request fields in the ABI. */
    static final int REQUEST_FIELDS = 0;

    /** The number of the map of response fields in the ABI. */
    static final int RESPONSE_FIELDS = 2;

    private static final int PROPERTIES_MAX = 100;
    private static final int PROPERTY_BYTES_MAX = 64 * 1024;

    /**
     * A response.
     *
     * @param fields the fields, with the pseudo field {@code :status}
     * @param cacheResult empty if it is not known
     * @param url URL of the cache key; empty for a response to a client
     */
    record Response(int status, HeaderMap fields, String cacheResult, String url) {}

    private final Supplier<@Nullable RequestCopy> requestSource;
    private @Nullable RequestCopy request;
    private final @Nullable Response response;
    private final @Nullable BodyBuffer body;
    private final boolean mayAnswer;
    private final Map<String, byte[]> properties;
    private int propertyBytes;
    private @Nullable Answer answer;
    private boolean isContinued;
    private int number;
    private long beganNanos;

    private HttpContext(
            Supplier<@Nullable RequestCopy> requestSource,
            @Nullable Response response,
            @Nullable BodyBuffer body,
            boolean mayAnswer,
            Map<String, byte[]> properties) {
        this.requestSource = requestSource;
        this.response = response;
        this.body = body;
        this.mayAnswer = mayAnswer;
        this.properties = new HashMap<>(properties);
    }

    /**
     * Creates the context of a request.
     *
     * @param mayAnswer whether the module may answer the request
     */
    static HttpContext ofRequest(RequestCopy request, boolean mayAnswer) {
        return new HttpContext(() -> request, null, null, mayAnswer, Map.of());
    }

    /**
     * Creates the context of a response.
     *
     * @param request supplies the request if the module reads it; null for none
     * @param properties the properties that the module has set for the request
     */
    static HttpContext ofResponse(
            Supplier<@Nullable RequestCopy> request, Response response, Map<String, byte[]> properties) {
        return new HttpContext(request, response, null, false, properties);
    }

    /**
     * Creates the context of the content of a response.
     *
     * @param properties the properties that the module has set for the fields of the response
     */
    static HttpContext ofBody(Response response, Map<String, byte[]> properties, BodyBuffer body) {
        return new HttpContext(() -> null, response, body, false, properties);
    }

    /** The content of the response; null if this message has no content for the module. */
    @Nullable
    BodyBuffer body() {
        return body;
    }

    /** Returns true for the content of a response if the module has not seen its end. The context is then kept. */
    boolean hasMoreContent() {
        return body != null && !body.isEnd();
    }

    private @Nullable RequestCopy request() {
        if (request == null) {
            request = requestSource.get();
        }
        return request;
    }

    /** Returns the field map with a number of the ABI; null if this message has no such map. */
    @Nullable
    HeaderMap fields(int number) {
        if (number == RESPONSE_FIELDS) {
            return response == null ? null : response.fields();
        }
        RequestCopy known = number == REQUEST_FIELDS ? request() : null;
        return known == null ? null : known.fields();
    }

    /** Returns true if the module may change the field map with a number of the ABI. */
    boolean mayChange(int number) {
        return body == null && number == (response == null ? REQUEST_FIELDS : RESPONSE_FIELDS);
    }

    /** Returns true for a request without content; false for a request with content, and for each response. */
    boolean isEnd() {
        RequestCopy known = response == null ? request() : null;
        return known != null && known.isEnd();
    }

    /** Sets the answer. Returns the status for the module. */
    int answer(Answer given) {
        if (!mayAnswer) {
            return Status.UNIMPLEMENTED;
        }
        answer = given;
        return Status.OK;
    }

    /** The answer of the module; null for none. */
    @Nullable
    Answer answer() {
        return answer;
    }

    /** Lets the message continue: the request or response itself, or the content that the module has held back. */
    void proceed() {
        isContinued = true;
        if (body != null) {
            body.release();
        }
    }

    /** Sets the number of the context in its instance, at the first callback. */
    void begin(int context) {
        number = context;
        restart();
    }

    /** Restarts the time that {@link #beganNanos} returns, at each callback for content. */
    void restart() {
        beganNanos = System.nanoTime();
    }

    /** The number of the context in its instance; 0 before the first callback. */
    int number() {
        return number;
    }

    /** The time of the first callback, or for content of the last callback, as {@link System#nanoTime} returns it. */
    long beganNanos() {
        return beganNanos;
    }

    /** True if the module has answered the message or lets it continue. */
    boolean isResolved() {
        return isContinued || answer != null;
    }

    boolean isContinued() {
        return isContinued;
    }

    /** The properties that the module has set. */
    Map<String, byte[]> properties() {
        return properties;
    }

    /** Sets a property. Returns the status for the module. */
    int setProperty(String path, byte[] value) {
        propertyBytes += path.length() + value.length;
        if (propertyBytes > PROPERTY_BYTES_MAX || properties.size() >= PROPERTIES_MAX) {
            return Status.INTERNAL_FAILURE;
        }
        properties.put(path, value);
        return Status.OK;
    }

    /**
     * Returns a property; null if there is none.
     *
     * @param path the words of the property's path, separated by zero characters
     */
    byte @Nullable [] property(String path) {
        byte[] setByModule = properties.get(path);
        if (setByModule != null) {
            return setByModule;
        }
        int zero = path.indexOf('\0');
        String first = zero < 0 ? path : path.substring(0, zero);
        String rest = zero < 0 ? "" : path.substring(zero + 1);
        return switch (first) {
            case "request" -> ofRequest(rest);
            case "source" ->
                rest.equals("address")
                        ? text(request() == null ? null : request().client())
                        : null;
            case "response" -> ofResponse(rest);
            case "millrace" -> ofProxy(rest);
            default -> null;
        };
    }

    private byte @Nullable [] ofRequest(String name) {
        RequestCopy known = request();
        if (known == null) {
            return null;
        }
        if (name.startsWith("headers\0")) {
            return text(known.fields().get(name.substring("headers\0".length())));
        }
        return text(
                switch (name) {
                    case "path" -> known.target();
                    case "url_path" -> known.path();
                    case "query" -> known.query();
                    case "host" -> known.authority();
                    case "scheme" -> known.scheme();
                    case "method" -> known.method();
                    case "protocol" -> known.protocol();
                    case "referer" -> known.fields().get("referer");
                    case "useragent" -> known.fields().get("user-agent");
                    default -> null;
                });
    }

    private byte @Nullable [] ofResponse(String name) {
        if (response == null) {
            return null;
        }
        if (name.startsWith("headers\0")) {
            return text(response.fields().get(name.substring("headers\0".length())));
        }
        return name.equals("code") ? number(response.status()) : null;
    }

    private byte @Nullable [] ofProxy(String name) {
        RequestCopy known = name.equals("rule") ? request() : null;
        return switch (name) {
            case "rule" -> text(known == null ? null : known.rule());
            case "cache_result" ->
                text(response == null || response.cacheResult().isEmpty() ? null : response.cacheResult());
            case "url" -> text(response == null || response.url().isEmpty() ? null : response.url());
            default -> null;
        };
    }

    private static byte @Nullable [] text(@Nullable String text) {
        return text == null ? null : text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static byte[] number(long value) {
        return ByteBuffer.allocate(Long.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(value)
                .array();
    }
}
