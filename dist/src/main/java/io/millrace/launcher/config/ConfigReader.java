package io.millrace.launcher.config;

import io.millrace.launcher.exit.ExitCode;
import io.millrace.launcher.exit.LaunchException;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.problem.ConfigDocument;
import io.millrace.proxy.config.problem.ConfigDocument.Pushed;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.worker.control.ConfigSource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The reader of the configuration that the options of {@code millrace run} select. Used at the start and at every
 * reload. Thread-safe.
 */
public final class ConfigReader {
    private static final String LISTEN_DEFAULT = ":8080";
    private static final List<Path> PLACES = List.of(Path.of("millrace.yaml"), Path.of("/etc/millrace/millrace.yaml"));

    /**
     * A configuration that was read.
     *
     * @param source the configuration as text, which is sent to workers
     * @param result the parsed configuration, or its problems
     */
    public record Reading(ConfigSource source, ConfigResult result) {
        /** Returns the parsed configuration. Throws IllegalStateException if it has problems. */
        public ProxyConfig config() {
            ProxyConfig config = result.config();
            if (config == null) {
                throw new IllegalStateException("the configuration has problems: " + result.problems());
            }
            return config;
        }
    }

    private final @Nullable Path file;
    private final @Nullable String origin;
    private final List<String> listen;
    private final Map<String, String> overrides;
    private final @Nullable TlsSite site;
    private volatile @Nullable Pushed pushed;

    private ConfigReader(
            @Nullable Path file,
            @Nullable String origin,
            List<String> listen,
            Map<String, String> overrides,
            @Nullable TlsSite site) {
        this.file = file;
        this.origin = origin;
        this.listen = listen;
        this.overrides = overrides;
        this.site = site;
    }

    /**
     * Creates a reader.
     *
     * @param demoOrigin URL of the demonstration site; null if it does not run
     * @throws LaunchException if there is no configuration file and no option replaces it
     */
    public static ConfigReader of(LaunchOptions options, @Nullable String demoOrigin) throws LaunchException {
        String origin = demoOrigin == null ? options.origin() : demoOrigin;
        if (origin != null) {
            String defaultAddress = options.site() == null ? LISTEN_DEFAULT : TlsSite.HTTP_DEFAULT;
            List<String> listen = options.listen().isEmpty() ? List.of(defaultAddress) : options.listen();
            return new ConfigReader(null, origin, listen, options.set(), options.site());
        }
        Map<String, String> overrides = new LinkedHashMap<>(options.set());
        if (!options.listen().isEmpty()) {
            overrides.put("listen", flowSequence(options.listen()));
        }
        return new ConfigReader(find(options.config()), null, List.of(), overrides, null);
    }

    /**
     * Returns the named file, or the first of the default files that exists.
     *
     * @throws LaunchException if no default file exists
     */
    public static Path find(@Nullable Path named) throws LaunchException {
        if (named != null) {
            return named;
        }
        for (Path place : PLACES) {
            if (Files.isRegularFile(place)) {
                return place;
            }
        }
        throw new LaunchException(
                "no configuration: there is no millrace.yaml here or in /etc/millrace\n"
                        + "  write one:       millrace init\n"
                        + "  name a file:     millrace run --config FILE\n"
                        + "  without a file:  millrace run --origin URL\n"
                        + "  try it first:    millrace run --demo",
                ExitCode.USAGE);
    }

    /** The name of the configuration in messages, such as the path of the file. */
    String name() {
        return file == null ? ConfigSource.COMMAND_LINE : file.toString();
    }

    /** The configuration file; null if the options replace it. */
    @Nullable
    public Path file() {
        return file;
    }

    /**
     * Sets the configuration that the fleet has pushed, which is read together with the local file from now on.
     *
     * @param next null for none
     */
    public void push(@Nullable Pushed next) {
        pushed = next;
    }

    /** Returns the configuration that the fleet has pushed; null for none. */
    @Nullable
    Pushed pushed() {
        return pushed;
    }

    /** Reads the configuration as it is now, and checks it. */
    public Reading read() {
        return read(pushed);
    }

    /** Reads the local configuration as it is now together with another pushed one, and checks it. */
    Reading read(@Nullable Pushed other) {
        return file == null ? readOptions(String.valueOf(origin), other) : read(file, other);
    }

    private Reading readOptions(String target, @Nullable Pushed other) {
        String text = site == null
                ? "listen: " + flowSequence(listen) + "\nremap:\n  - map: /\n    to: " + TlsSite.quoted(target) + "\n"
                : site.yaml(listen, target);
        ConfigDocument document =
                new ConfigDocument(ConfigSource.COMMAND_LINE, Path.of("").toAbsolutePath(), text, Map.of());
        if (other != null) {
            ConfigSource source = new ConfigSource(document.withPushed(other), overrides, Map.of());
            return new Reading(source, source.load());
        }
        // With --origin alone, the options are parsed instead of the text. Errors then name the options, and not lines
        // of a file that does not exist.
        ConfigResult result = site == null
                ? ConfigLoader.forOrigin(listen, target, overrides)
                : ConfigLoader.parse(text, document.name(), document.directory(), overrides);
        return new Reading(new ConfigSource(document, overrides, Map.of()), result);
    }

    /** Reads and checks {@code other} as if it were the configuration file of this run. */
    public Reading read(Path other) {
        return read(other, pushed);
    }

    private Reading read(Path other, @Nullable Pushed shared) {
        ConfigResult result = ConfigLoader.load(other, shared, overrides);
        ConfigDocument document = result.document();
        if (document == null) {
            // The file could not be read. The result contains a problem with the reason.
            document = new ConfigDocument(other.toString(), Path.of("/"), "", Map.of());
        }
        return new Reading(new ConfigSource(document, overrides, Map.of()), result);
    }

    private static String flowSequence(List<String> values) {
        return values.stream().map(TlsSite::quoted).collect(Collectors.joining(", ", "[", "]"));
    }
}
