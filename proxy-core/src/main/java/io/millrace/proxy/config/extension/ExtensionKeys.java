package io.millrace.proxy.config.extension;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigTree;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.ExtensionJar;
import io.millrace.proxy.config.key.OnError;
import io.millrace.proxy.config.key.ValueType;
import java.time.Duration;
import java.util.List;

/** Configuration keys for extensions. */
public final class ExtensionKeys {
    /** The extensions of one remap rule. */
    public static final ConfigKey<List<String>> OF_REMAP = ConfigKey.builder(
                    "remap[].extensions", ValueType.EXTENSION_NAMES)
            .atsName("@plugin")
            .description("Names of the extensions that see the requests of this rule; [] for none. Without this key"
                    + " all extensions see them. The order of calls is that of the list extensions.");

    public static final ConfigKey<List<ConfigValues>> EXTENSIONS = ConfigKey.builder("extensions", ValueType.LIST)
            .rolling()
            .atsName("plugin.config")
            .description("Code in Java that takes part in the processing of requests; see docs/guide/extensions.md."
                    + " Extensions are called in the order of this list. At most 32.");
    public static final ConfigKey<String> NAME = ConfigKey.builder("extensions[].name", ValueType.STRING)
            .rolling()
            .required()
            .description(
                    "Name of the extension, of at most 64 letters, digits, '-' and '_'; it is shown in logs, metrics,"
                            + " Cache-Status and millctl extension list.");
    public static final ConfigKey<ExtensionJar> JAR = ConfigKey.builder("extensions[].jar", ValueType.JAR)
            .rolling()
            .description("File with the code. A reload after a change of the file starts a new worker.");
    public static final ConfigKey<String> CLASS = ConfigKey.builder("extensions[].class", ValueType.STRING)
            .rolling()
            .description("Class that implements io.millrace.proxy.spi.Extension. The default is the only one that the"
                    + " jar names in META-INF/services. Without jar: a class of the embedding application.");
    public static final ConfigKey<OnError> ON_ERROR = ConfigKey.builder(
                    "extensions[].on_error", ValueType.word(OnError.class, false))
            .rolling()
            .description("Result of a failed call: open goes on without the extension, closed answers with 503. The"
                    + " default is closed for hooks that may refuse a request, and open for others.");
    public static final ConfigKey<Duration> DEADLINE = ConfigKey.builder("extensions[].deadline", ValueType.DURATION)
            .within(Duration.ofMillis(1), Duration.ofMinutes(5))
            .defaultsTo(Duration.ofSeconds(5))
            .rolling()
            .description(
                    "Time limit of asynchronous calls of hooks, such as a question to another service. After it the"
                            + " call has failed.");
    public static final ConfigKey<ConfigTree> CONFIG = ConfigKey.builder("extensions[].config", ValueType.SECTION)
            .rolling()
            .description("Settings of the extension itself, with the keys that it defines.");

    private ExtensionKeys() {}
}
