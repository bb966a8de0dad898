package io.millrace.proxy.config.access;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.value.FileMode;

/** Configuration keys for Unix sockets on which clients are accepted. */
public final class UnixListenKeys {
    /** File mode of a socket if the key is not set: owner and group may connect. */
    private static final FileMode OWNER_AND_GROUP = new FileMode(0660);

    public static final ConfigKey<FileMode> MODE = ConfigKey.builder("listen[].socket_mode", ValueType.SOCKET_MODE)
            .defaultsTo(OWNER_AND_GROUP)
            .rolling()
            .atsName("uds-perm")
            .description("Mode of a Unix socket in listen. Processes that may write to the socket may connect.");
    public static final ConfigKey<String> OWNER = ConfigKey.builder("listen[].socket_owner", ValueType.STRING)
            .rolling()
            .atsName("uds-user, uds-group")
            .description("Owner of a Unix socket in listen: user, user:group or :group. The default is the user and"
                    + " group of the launcher. Another user needs root, another group root or membership.");

    private UnixListenKeys() {}
}
