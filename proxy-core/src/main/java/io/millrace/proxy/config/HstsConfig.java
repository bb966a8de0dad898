package io.millrace.proxy.config;

import io.netty.util.AsciiString;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Value of Strict-Transport-Security (RFC 6797) in responses over TLS. Immutable.
 *
 * @param maxAgeSeconds how long browsers use https only; 0 makes them forget it
 * @param includeSubdomains whether that holds for subdomains too
 * @param preload whether the host may be in the lists that browsers ship with
 * @param value the field's value
 */
public record HstsConfig(long maxAgeSeconds, boolean includeSubdomains, boolean preload, AsciiString value) {
    /** Shortest lifetime that lists of browsers accept (https://hstspreload.org). */
    static final long PRELOAD_SECONDS = TimeUnit.DAYS.toSeconds(365);

    private static HstsConfig of(long maxAgeSeconds, boolean includeSubdomains, boolean preload) {
        String value = "max-age=" + maxAgeSeconds
                + (includeSubdomains ? "; includeSubDomains" : "")
                + (preload ? "; preload" : "");
        return new HstsConfig(maxAgeSeconds, includeSubdomains, preload, AsciiString.of(value));
    }

    /** Null where the section has no {@code max_age}. */
    static @Nullable HstsConfig from(ConfigValues values, ServerTlsKeys.Section keys) {
        return !values.isSet(keys.hstsMaxAge())
                ? null
                : of(
                        values.get(keys.hstsMaxAge()).toSeconds(),
                        values.isSet(keys.hstsIncludeSubdomains()) && values.get(keys.hstsIncludeSubdomains()),
                        values.isSet(keys.hstsPreload()) && values.get(keys.hstsPreload()));
    }
}
