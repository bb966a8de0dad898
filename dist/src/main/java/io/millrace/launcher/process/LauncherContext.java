package io.millrace.launcher.process;

import io.millrace.launcher.exit.LaunchException;
import io.millrace.launcher.state.StateDirectory;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.access.ListenerConfig;
import io.millrace.proxy.config.access.ListenerConfig.Transparency;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.WorkerConfig;
import io.millrace.proxy.config.value.ListenAddress;
import io.millrace.proxy.net.UnixAddress;
import io.millrace.worker.control.ControlTransport;
import io.millrace.worker.control.ListenerSockets;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The properties of a launcher that no configuration change affects. These are its directories and the worker's main
 * class. Immutable.
 *
 * @param state the directories
 * @param workerClass main class of the worker
 */
public record LauncherContext(StateDirectory state, String workerClass) {
    /**
     * System property with the directory of the product, set by bin/millrace. Without it, the directory is derived from
     * the path of the jar. A build that is not packed has no product directory.
     */
    private static final String HOME_PROPERTY = "millrace.home";

    /** Returns a copy of {@code config} in which unset paths have their defaults. */
    public ProxyConfig withDefaultPaths(ProxyConfig config) {
        return state.defaultPaths().complete(config);
    }

    /** Returns the path of the public admin socket with a configuration. */
    public Path adminSocket(ProxyConfig config) {
        Path configured = config.admin().socket();
        return configured == null ? state.adminSocket() : configured;
    }

    /** Returns the command that starts workers with a configuration. */
    public WorkerCommand workerCommand(ProxyConfig config) {
        return new WorkerCommand(home(), config, state, workerClass);
    }

    /**
     * Returns true if the launcher binds the listening sockets. Otherwise workers bind them, and connections are
     * refused during a restart.
     */
    public static boolean bindsSockets(ProxyConfig config) {
        return ControlTransport.available() == ControlTransport.EPOLL
                && config.worker().transport() != WorkerConfig.Transport.NIO;
    }

    /** Number of listening sockets per address: one for each event loop of the worker. */
    public static int socketsPerAddress(ProxyConfig config) {
        int loops = config.worker().eventLoops();
        return loops == 0 ? Runtime.getRuntime().availableProcessors() : loops;
    }

    /** The listen addresses of {@code config}, by their configured text. */
    public static Map<String, SocketAddress> addresses(ProxyConfig config) throws LaunchException {
        Map<String, SocketAddress> addresses = new LinkedHashMap<>();
        for (ListenerConfig listener : config.listeners()) {
            @Nullable UnixAddress unix = UnixAddress.of(listener);
            addresses.put(listener.address().toString(), unix == null ? resolve(listener.address()) : unix);
        }
        return addresses;
    }

    /** The transparency of the listen addresses of {@code config}, by their configured text. */
    public static Map<String, Transparency> transparency(ProxyConfig config) {
        Map<String, Transparency> modes = new LinkedHashMap<>();
        config.listeners().forEach(listener -> modes.put(listener.address().toString(), listener.transparency()));
        return modes;
    }

    /** The listeners of {@code config} if the launcher does not bind them. */
    public static List<ListenerSockets> unbound(ProxyConfig config) {
        return config.listeners().stream()
                .map(listener -> listener.address().toString())
                .map(address -> new ListenerSockets(address, address, 1))
                .toList();
    }

    private static InetSocketAddress resolve(ListenAddress address) throws LaunchException {
        @Nullable String ip = address.ip();
        try {
            // The text is an IP address, never a name, so there is no DNS lookup.
            return ip == null
                    ? new InetSocketAddress(address.port())
                    : new InetSocketAddress(InetAddress.getByName(ip), address.port());
        } catch (UnknownHostException e) {
            throw new LaunchException(ConfigKeys.LISTEN.path() + ": " + address + " is not an address");
        }
    }

    /** Returns the directory of the installed product; null if there is none. */
    public static @Nullable Path home() {
        @Nullable String home = System.getProperty(HOME_PROPERTY);
        if (home != null) {
            return Path.of(home);
        }
        // Started as: java -jar lib/millrace-launcher.jar
        Path jar = Path.of(System.getProperty("java.class.path", "").split(":", 2)[0])
                .toAbsolutePath();
        @Nullable Path lib = jar.getParent();
        return jar.endsWith("lib/millrace-launcher.jar") && lib != null ? lib.getParent() : null;
    }
}
