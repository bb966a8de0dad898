package io.millrace.proxy.config.key;

import io.millrace.proxy.config.value.ListenAddress;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Addresses of the admin API. Immutable.
 *
 * @param socket Unix socket, absolute; null if the code that starts the proxy chooses it
 * @param listen TCP address besides the socket; null for none
 * @param tokenFile file with the token for {@code listen}; not null if {@code listen} is set
 */
public record AdminConfig(
        @Nullable Path socket,
        @Nullable ListenAddress listen,
        @Nullable Path tokenFile) {
    public static AdminConfig from(ConfigValues values) {
        return new AdminConfig(
                values.find(ConfigKeys.ADMIN_SOCKET),
                values.find(ConfigKeys.ADMIN_LISTEN),
                values.find(ConfigKeys.ADMIN_TOKEN_FILE));
    }
}
