package io.millrace.proxy.admin;

import io.millrace.proxy.admin.access.AdminToken;
import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.config.admin.AdminRole;
import io.netty.channel.Channel;
import io.netty.handler.codec.http.FullHttpRequest;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Identifies the clients of admin requests. It uses the credentials of the Unix domain socket, or token and address on
 * TCP. A launcher names the client of a forwarded request in a field, which is accepted only from the same user.
 *
 * <p>Thread-safe.
 */
final class AdminCallers {
    private static final long OWN_UID = ownUid();

    private final AdminTransport transport;
    private final boolean overTcp;

    AdminCallers(AdminTransport transport, boolean overTcp) {
        this.transport = transport;
        this.overTcp = overTcp;
    }

    /**
     * Returns the client of a request.
     *
     * @param token the token of the request; null on a Unix domain socket
     */
    AdminCaller of(Channel channel, FullHttpRequest request, @Nullable AdminToken token) {
        if (overTcp) {
            String address = channel.remoteAddress() instanceof InetSocketAddress remote
                    ? remote.getAddress().getHostAddress()
                    : null;
            return token == null
                    ? new AdminCaller(-1, null, address)
                    : new AdminCaller(-1, token.name(), address, token.purgeRights(), token.role() == AdminRole.VIEWER);
        }
        long uid = transport.peerUid(channel);
        String forwardedCaller = request.headers().get(AdminCaller.FIELD_NAME);
        return forwardedCaller != null && isOwn(uid)
                ? AdminCaller.parse(forwardedCaller)
                : new AdminCaller(uid, null, null);
    }

    private static boolean isOwn(long uid) {
        return uid == OWN_UID && uid >= 0;
    }

    private static long ownUid() {
        try {
            Object uid = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
            return uid instanceof Integer number ? Integer.toUnsignedLong(number) : -1;
        } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
            return -1;
        }
    }
}
