package io.millrace.wasm;

import io.millrace.proxy.spi.ExtensionConfig;
import io.millrace.proxy.spi.ExtensionConfigException;
import io.millrace.wasm.body.HeldBytes;
import io.millrace.wasm.callout.CalloutSettings;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The settings of the extension. Immutable.
 *
 * @param module the file with the module
 * @param memoryPages limit of the memory of one instance, in pages of 64 KiB
 * @param deadlineNanos limit of the time of one callback
 * @param instances number of instances for requests, each with a thread
 * @param isCompiled true if the module is compiled to Java classes; false if it is interpreted
 * @param responseInstructions limit of the instructions of one callback for a response
 * @param pluginConfiguration content of the buffer for {@code proxy_on_configure}, as UTF-8
 * @param vmConfiguration content of the buffer for {@code proxy_on_vm_start}, as UTF-8
 * @param rootId the property {@code plugin_root_id}
 * @param reloadNanos interval between the checks of the file; 0 for none
 * @param callouts upstreams and limits of HTTP calls
 * @param bodyBytesMax limit of the content of a response that the module may hold back; 0 if it sees no content
 */
record WasmSettings(
        Path module,
        int memoryPages,
        long deadlineNanos,
        int instances,
        boolean isCompiled,
        long responseInstructions,
        String pluginConfiguration,
        String vmConfiguration,
        String rootId,
        long reloadNanos,
        CalloutSettings callouts,
        int bodyBytesMax) {
    static final int PAGE_BYTES = 64 * 1024;

    private static final int INSTANCES_MAX = 64;
    private static final long MEMORY_BYTES_MAX = 1L << 30;
    private static final Pattern SIZE = Pattern.compile("(\\d{1,12})\\s*(KiB|MiB|GiB)?");
    /** The place of a value in the configuration: file, line and column. */
    private static final Pattern PLACE = Pattern.compile("(.+):\\d+:\\d+");

    /**
     * Reads and checks the settings.
     *
     * @param hasBodies whether the module sees contents of responses
     */
    static WasmSettings of(ExtensionConfig config, boolean hasBodies) throws ExtensionConfigException {
        String engine = config.text("engine", "interpreter");
        if (!engine.equals("interpreter") && !engine.equals("compiler")) {
            throw config.problem("engine", "'" + engine + "' is neither interpreter nor compiler");
        }
        WasmSettings settings = new WasmSettings(
                module(config),
                pages(config),
                duration(config, "deadline", Duration.ofMillis(50), Duration.ofMillis(1), Duration.ofSeconds(10)),
                (int) config.number("instances", 4, 1, INSTANCES_MAX),
                engine.equals("compiler"),
                config.number("response_instructions", 100_000, 1000, 100_000_000),
                config.text("configuration", ""),
                config.text("vm_configuration", ""),
                config.text("root_id", ""),
                duration(config, "reload_interval", Duration.ofSeconds(2), Duration.ZERO, Duration.ofHours(1)),
                callouts(config),
                hasBodies ? bodyBytes(config) : 0);
        config.rejectOtherKeys();
        return settings;
    }

    private static Path module(ExtensionConfig config) throws ExtensionConfigException {
        String text = config.text("module");
        try {
            Path path = Path.of(text);
            // A path that is not absolute is resolved in the directory of the configuration file.
            Matcher place = PLACE.matcher(config.problem("module", "").place());
            Path directory =
                    place.matches() ? Path.of(place.group(1)).toAbsolutePath().getParent() : null;
            return directory == null
                    ? path.toAbsolutePath()
                    : directory.resolve(path).normalize();
        } catch (InvalidPathException e) {
            throw config.problem("module", "'" + text + "' is not a path: " + e.getReason());
        }
    }

    private static CalloutSettings callouts(ExtensionConfig config) throws ExtensionConfigException {
        long timeout = duration(
                config, "callout_timeout", Duration.ofSeconds(4), Duration.ofMillis(10), Duration.ofMinutes(1));
        long body = bytes(config, "callout_body", "1MiB");
        if (body < 1 || body > CalloutSettings.BYTES_MAX) {
            throw config.problem("callout_body", config.text("callout_body", "") + " is not from 1 byte to 64MiB");
        }
        return CalloutSettings.of(config, timeout, (int) body);
    }

    private static int bodyBytes(ExtensionConfig config) throws ExtensionConfigException {
        long bytes = bytes(config, "body_limit", "1MiB");
        if (bytes < 1 || bytes > HeldBytes.BYTES_MAX) {
            throw config.problem("body_limit", config.text("body_limit", "") + " is not from 1 byte to 64MiB");
        }
        return (int) bytes;
    }

    private static int pages(ExtensionConfig config) throws ExtensionConfigException {
        long bytes = bytes(config, "memory", "16MiB");
        if (bytes < PAGE_BYTES || bytes > MEMORY_BYTES_MAX || bytes % PAGE_BYTES != 0) {
            throw config.problem(
                    "memory", config.text("memory", "").strip() + " is not a multiple of 64KiB from 64KiB to 1GiB");
        }
        return (int) (bytes / PAGE_BYTES);
    }

    private static long bytes(ExtensionConfig config, String key, String defaultValue) throws ExtensionConfigException {
        String text = config.text(key, defaultValue).strip();
        Matcher size = SIZE.matcher(text);
        if (!size.matches()) {
            throw config.problem(key, "'" + text + "' is not a size, such as " + defaultValue);
        }
        String unit = size.group(2);
        long factor = unit == null ? 1 : unit.equals("KiB") ? 1 << 10 : unit.equals("MiB") ? 1 << 20 : 1 << 30;
        return Long.parseLong(size.group(1)) * factor;
    }

    private static long duration(ExtensionConfig config, String key, Duration defaultValue, Duration min, Duration max)
            throws ExtensionConfigException {
        Duration value = config.duration(key, defaultValue);
        if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
            throw config.problem(
                    key, value.toMillis() + " ms is not from " + min.toMillis() + " to " + max.toMillis() + " ms");
        }
        return value.toNanos();
    }

    /** Returns true if the module sees contents of responses. */
    boolean hasBodies() {
        return bodyBytesMax > 0;
    }

    byte[] pluginBytes() {
        return pluginConfiguration.getBytes(StandardCharsets.UTF_8);
    }

    byte[] vmBytes() {
        return vmConfiguration.getBytes(StandardCharsets.UTF_8);
    }
}
