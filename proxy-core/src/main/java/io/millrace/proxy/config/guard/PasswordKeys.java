package io.millrace.proxy.config.guard;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.LoadedFile;
import io.millrace.proxy.config.key.ValueType;

/** Configuration keys for Basic authentication (RFC 7617). Remap rules can override all of them. */
public final class PasswordKeys {
    public static final ConfigKey<Boolean> ENABLED = ConfigKey.builder("basic_auth.enabled", ValueType.BOOLEAN)
            .defaultsTo(true)
            .perRule()
            .description("Whether requests need a password, if basic_auth.file is set.");
    public static final ConfigKey<LoadedFile> FILE = ConfigKey.builder("basic_auth.file", ValueType.FILE)
            .perRule()
            .atsName("@plugin=basic_auth.so")
            .description("File of users as htpasswd -B writes it, with bcrypt hashes. A request without name and"
                    + " password of a user is answered with 401. The file is read again at each reload. Without it no"
                    + " password is needed.");
    public static final ConfigKey<String> REALM = ConfigKey.builder("basic_auth.realm", ValueType.STRING)
            .defaultsTo("restricted")
            .perRule()
            .description("Name of the protected area, which browsers show or use to find a stored password.");
    public static final ConfigKey<String> WHEN = ConfigKey.builder("basic_auth.when", ValueType.STRING)
            .perRule()
            .description("Condition on the requests that need a password, such as path =~ \"^/admin/\"; see"
                    + " docs/reference/expressions.md. Without it all requests of the rule need one.");

    private PasswordKeys() {}
}
