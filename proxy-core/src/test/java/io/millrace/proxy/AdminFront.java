package io.millrace.proxy;

import io.millrace.proxy.admin.AdminServer;
import io.millrace.proxy.admin.access.AdminAccess;
import io.millrace.proxy.admin.vendor.CloudflareResource;
import io.millrace.proxy.admin.vendor.FastlyResource;
import io.millrace.proxy.config.admin.AdminConfig;
import io.millrace.proxy.config.admin.AdminConfig.Token;
import io.millrace.proxy.config.admin.AdminRole;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The admin API of a launcher, on TCP, in front of a proxy's admin socket. Its tokens: {@code admin} with every right,
 * {@code sites} for purges of the sites a.example, own.example and shop, {@code a} for those of
 * a.example, {@code tags} for purges by tag. Confined to one thread.
 */
final class AdminFront implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private final AdminServer server;

    private AdminFront(AdminServer server) {
        this.server = server;
    }

    static AdminFront of(Path directory, Path socket) throws IOException {
        List<Token> tokens = new ArrayList<>();
        tokens.add(new Token(
                "sites",
                secret(directory, "sites"),
                AdminRole.PURGER,
                Set.of("a.example", "own.example", "shop"),
                Set.of(),
                0));
        tokens.add(new Token("a", secret(directory, "a"), AdminRole.PURGER, Set.of("a.example"), Set.of(), 0));
        tokens.add(new Token("tags", secret(directory, "tags"), AdminRole.PURGER, Set.of(), Set.of("tag"), 0));
        AdminConfig config = new AdminConfig(
                null,
                null,
                secret(directory, "admin"),
                tokens,
                null,
                Duration.ofHours(1).toNanos());
        AdminServer.Builder builder = AdminServer.builder()
                .tcp(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), AdminAccess.of(config))
                .forward("GET", "/v1/cache/purges", () -> socket, TIMEOUT)
                .forward("GET", "/v1/cache/purge", () -> socket, TIMEOUT);
        for (String path : List.of(
                "/v1/cache/purge",
                "/v1/cache/purge/dry-run",
                "/v1/cache/purge/undo",
                "/v1/cache/purge/cancel",
                FastlyResource.KEY_PATH,
                FastlyResource.KEYS_PATH,
                FastlyResource.ALL_PATH,
                CloudflareResource.PATH,
                CloudflareResource.LONG_PATH)) {
            builder.forward("POST", path, () -> socket, TIMEOUT);
        }
        return new AdminFront(builder.start());
    }

    private static Path secret(Path directory, String name) throws IOException {
        Path file = Files.writeString(directory.resolve(name), token(name));
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }

    /** Returns the content of a token's file. */
    static String token(String name) {
        return "token-of-sixteen-" + name;
    }

    /** Sends bytes as they are, except that TOKEN-NAME stands for a token, and returns the response. */
    RawClient.Response send(String request) throws IOException {
        try (RawClient client = new RawClient(server.tcpAddress())) {
            return client.send(request.replace("TOKEN-", token(""))).response();
        }
    }

    /** Sends a request to a resource of the admin API. */
    RawClient.Response request(String token, String method, String target, String body) throws IOException {
        return send(method + " " + target + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer TOKEN-" + token
                + "\r\nContent-Length: " + body.getBytes(StandardCharsets.UTF_8).length + "\r\n\r\n" + body);
    }

    @Override
    public void close() {
        server.close();
    }
}
