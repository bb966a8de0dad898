package io.millrace.launcher.fleet;

import io.millrace.proxy.config.fleet.FleetConfig;
import io.nats.client.AuthHandler;
import io.nats.client.Connection;
import io.nats.client.ConnectionListener;
import io.nats.client.Nats;
import io.nats.client.Options;
import io.nats.client.impl.NatsServerPool;
import io.nats.client.support.NatsUri;
import io.netty.handler.ssl.JdkSslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** Connects a client to the NATS servers of a fleet, and explains failures. Confined to one thread. */
final class NatsConnector {
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(3);
    private static final Duration RECONNECT_WAIT = Duration.ofMillis(500);
    private static final Duration PING_INTERVAL = Duration.ofSeconds(2);
    private static final int PINGS_OUT_MAX = 2;

    private final FleetConfig settings;
    private final AtomicLong connections = new AtomicLong();
    private final NatsProblems problems;

    NatsConnector(FleetConfig settings) {
        this.settings = settings;
        this.problems = new NatsProblems(settings.name(), login(settings), System::nanoTime);
    }

    /** Returns the configuration key that names the credentials of this node; empty for none. */
    private static String login(FleetConfig settings) {
        if (settings.credentialsFile() != null) {
            return "fleet.credentials_file";
        }
        if (settings.nkeyFile() != null) {
            return "fleet.nkey_file";
        }
        return settings.tokenFile() == null ? "" : "fleet.token_file";
    }

    /** Returns the problems of the connection. */
    NatsProblems problems() {
        return problems;
    }

    /** Returns the number of connections so far. */
    AtomicLong connections() {
        return connections;
    }

    /**
     * Connects to one of the servers.
     *
     * @throws FleetException if a server refuses this node
     * @throws IOException if no server answers
     */
    Connection connect() throws FleetException, IOException, InterruptedException {
        Options options = options();
        try {
            return Nats.connect(options);
        } catch (IOException e) {
            String text = problems.refusedConnections();
            if (!text.isEmpty()) {
                throw new FleetException(text);
            }
            throw new IOException(noServer(settings, problems), e);
        }
    }

    /** Returns the error message for the case that no server answers. */
    static String noServer(FleetConfig settings, NatsProblems problems) {
        String latest = problems.latest();
        return "no NATS server answers at " + FleetView.servers(settings)
                + (latest.isEmpty() ? "" : " (" + latest + ")");
    }

    private Options options() throws FleetException {
        Options.Builder options = new Options.Builder()
                .servers(settings.servers().toArray(new String[0]))
                .connectionName("millrace " + settings.name() + " " + settings.node())
                .maxReconnects(-1)
                .connectionTimeout(CONNECT_TIMEOUT)
                .reconnectWait(RECONNECT_WAIT)
                .pingInterval(PING_INTERVAL)
                .maxPingsOut(PINGS_OUT_MAX)
                .reconnectBufferSize(0)
                .dataPortType(NatsPort.class.getName())
                .serverPool(new Servers(problems))
                .connectionListener((changed, event) -> {
                    if (event == ConnectionListener.Events.CONNECTED
                            || event == ConnectionListener.Events.RECONNECTED) {
                        problems.setConnected();
                        connections.incrementAndGet();
                    }
                })
                .errorListener(problems);
        AuthHandler credentials = credentials(settings);
        if (credentials != null) {
            options.authHandler(credentials);
        }
        Path token = settings.tokenFile();
        if (token != null) {
            options.token(read("fleet.token_file", token, file -> Files.readString(file)
                            .strip())
                    .toCharArray());
        }
        SSLContext tls = tls(settings);
        if (tls != null) {
            options.sslContext(tls);
        }
        return options.build();
    }

    /** The servers, which the client tries in turn. Records the current server. */
    private static final class Servers extends NatsServerPool {
        private final NatsProblems problems;

        Servers(NatsProblems problems) {
            this.problems = problems;
        }

        @Override
        public @Nullable NatsUri nextServer() {
            NatsUri next = super.nextServer();
            if (next != null) {
                problems.setServer(next.getHost() + ":" + next.getPort());
            }
            return next;
        }
    }

    /** Reads one file of the settings. */
    @FunctionalInterface
    private interface Reader<T> {
        T read(Path file) throws IOException;
    }

    private static <T> T read(String key, Path file, Reader<T> reader) throws FleetException {
        try {
            return reader.read(file);
        } catch (NoSuchFileException e) {
            throw new FleetException(key + ": " + file + " does not exist");
        } catch (IOException | IllegalArgumentException | IllegalStateException e) {
            throw new FleetException(key + ": " + file + " cannot be used: " + e.getMessage());
        }
    }

    private static @Nullable AuthHandler credentials(FleetConfig settings) throws FleetException {
        Path file = settings.credentialsFile();
        if (file != null) {
            // The client reads the file again for each connection. This read detects an unusable file at once.
            return read("fleet.credentials_file", file, from -> {
                Nats.staticCredentials(Files.readAllBytes(from)).getID();
                return Nats.credentials(from.toString());
            });
        }
        Path nkey = settings.nkeyFile();
        if (nkey == null) {
            return null;
        }
        return read("fleet.nkey_file", nkey, from -> {
            AuthHandler handler =
                    Nats.staticCredentials(null, Files.readString(from).strip().toCharArray());
            handler.getID();
            return handler;
        });
    }

    private static @Nullable SSLContext tls(FleetConfig settings) throws FleetException {
        Path ca = settings.caFile();
        Path certificate = settings.certificate();
        Path key = settings.key();
        if (ca == null && certificate == null) {
            return null;
        }
        SslContextBuilder builder = SslContextBuilder.forClient().sslProvider(SslProvider.JDK);
        if (ca != null) {
            read("fleet.tls.ca_file", ca, file -> builder.trustManager(file.toFile()));
        }
        if (certificate != null && key != null) {
            read("fleet.tls.certificate", certificate, file -> builder.keyManager(file.toFile(), key.toFile()));
        }
        try {
            return ((JdkSslContext) builder.build()).context();
        } catch (IOException e) {
            throw new FleetException("fleet.tls cannot be used: " + e.getMessage());
        }
    }
}
