package io.millrace.wasm.callout;

import io.millrace.proxy.spi.ExtensionConfig;
import io.millrace.proxy.spi.ExtensionConfigException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The upstreams of HTTP calls, and the limits of each call. Immutable.
 *
 * @param upstreams URLs with scheme, host and port only, by the name that modules use; empty if modules cannot call
 * @param timeoutNanos limit of the time of a call, and of all calls for one request together
 * @param bodyBytesMax limit of the content of a call and of its response
 */
public record CalloutSettings(Map<String, URI> upstreams, long timeoutNanos, int bodyBytesMax) {
    /** Limit of the bytes of the contents of all open calls, and thus of one content. */
    public static final long BYTES_MAX = 64L << 20;

    private static final String KEY = "callouts";

    /**
     * Reads the section {@code callouts}.
     *
     * @param config the configuration of the extension
     * @param timeoutNanos the value of {@code callout_timeout}
     * @param bodyBytesMax the value of {@code callout_body}
     */
    public static CalloutSettings of(ExtensionConfig config, long timeoutNanos, int bodyBytesMax)
            throws ExtensionConfigException {
        Map<String, URI> upstreams = new LinkedHashMap<>();
        if (config.has(KEY)) {
            ExtensionConfig section = config.section(KEY);
            for (String name : section.keys()) {
                upstreams.put(name, url(section, name));
            }
        }
        return new CalloutSettings(Collections.unmodifiableMap(upstreams), timeoutNanos, bodyBytesMax);
    }

    private static URI url(ExtensionConfig section, String name) throws ExtensionConfigException {
        String text = section.text(name);
        URI url;
        try {
            url = new URI(text);
        } catch (URISyntaxException e) {
            throw section.problem(name, "'" + text + "' is not a URL: " + e.getReason());
        }
        boolean isHttp = "http".equals(url.getScheme()) || "https".equals(url.getScheme());
        String path = url.getRawPath();
        boolean isPlain = (path == null || path.isEmpty() || path.equals("/"))
                && url.getRawQuery() == null
                && url.getRawFragment() == null
                && url.getRawUserInfo() == null;
        if (!isHttp || url.getHost() == null || !isPlain || url.getPort() == 0 || url.getPort() > 65_535) {
            throw section.problem(
                    name, "'" + text + "' is not a URL of scheme, host and port, such as http://127.0.0.1:8080");
        }
        return URI.create(url.getScheme() + "://" + url.getRawAuthority());
    }
}
