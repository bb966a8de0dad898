package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.access.ForwardAccess;
import io.millrace.proxy.access.MethodPolicy;
import io.millrace.proxy.exchange.settings.ForwardSettings;
import io.millrace.proxy.fetch.OriginFailure;
import io.millrace.proxy.http.IpAddress;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.LoopCounters;
import io.millrace.proxy.observe.field.ForwardReason;
import io.millrace.proxy.remap.NotMapped;
import io.millrace.proxy.remap.RemapResult;
import io.netty.util.NetUtil;
import org.jspecify.annotations.Nullable;

/**
 * Decides about forward-proxy requests: CONNECT, and absolute-form requests that no rule maps. The addresses of a host
 * name are checked later, when the connection is made.
 *
 * <p>Confined to one event loop.
 */
public final class ForwardDecider {
    /** Reason text for a client when the destination address is denied. */
    public static final String DESTINATION = "requests are not forwarded to the addresses of this host";

    private final LoopCounters counters;

    ForwardDecider(LoopCounters counters) {
        this.counters = counters;
    }

    /**
     * Decides whether CONNECT opens a tunnel (RFC 9110 s9.3.6).
     *
     * @param client address of the client, null when unknown
     */
    Decision connect(Decision decision, long contentLength, @Nullable IpAddress client, ForwardSettings settings) {
        RequestHead request = decision.request();
        ForwardAccess forward = settings.access();
        if (!forward.isEnabled()) {
            counters.increment(Counter.DENIED_METHOD);
            return decision.denied(405, "CONNECT is not supported").allow(MethodPolicy.DEFAULT.allow());
        }
        if (!forward.mayForward(client)) {
            return deniedToClient(decision);
        }
        if (contentLength != 0) {
            return decision.denied(400, "a CONNECT request must not have content");
        }
        if (!forward.isConnectPort(request.target().port())) {
            counters.increment(Counter.DENIED_FORWARD_PORT);
            return decision.denied(403, "CONNECT to this port is not allowed", "forward:port");
        }
        if (isAddressDenied(request.target(), settings)) {
            return deniedDestination(decision);
        }
        return decision.forward(DecisionKind.TUNNEL, ForwardReason.METHOD);
    }

    /**
     * Returns true if a request is for the forward proxy: no rule maps it, and its target is in absolute-form (RFC 9112
     * s3.2.2). On a transparently diverted connection, the target may be in origin-form, because the client does not
     * know about the proxy.
     */
    static boolean isForwardRequest(
            RequestHead request, RemapResult found, ForwardAccess forward, ClientConnection client) {
        if (found != NotMapped.NO_RULE || !forward.isEnabled()) {
            return false;
        }
        TargetUri.Form form = request.target().form();
        return form == TargetUri.Form.ABSOLUTE || (client.isDiverted() && form == TargetUri.Form.ORIGIN);
    }

    /**
     * Returns true if a request to a parent proxy names a denied IP address as its host. Without a parent proxy, each
     * address is checked when this proxy connects to it.
     */
    private static boolean isAddressDenied(TargetUri url, ForwardSettings forward) {
        if (forward.origins() == null) {
            return false;
        }
        String host = url.host();
        byte[] address = NetUtil.createByteArrayFromIpAddressString(
                host.startsWith("[") ? host.substring(1, host.length() - 1) : host);
        return address != null && !forward.access().destinations().allow(IpAddress.of(address), url.port());
    }

    /**
     * Returns true if a request to the forward proxy is denied, because of its client or its destination.
     *
     * @param client address of the client, null when unknown
     */
    boolean denies(Decision decision, @Nullable IpAddress client, ForwardSettings settings) {
        if (!settings.access().mayForward(client)) {
            deniedToClient(decision);
            return true;
        }
        if (isAddressDenied(decision.request().target(), settings)) {
            deniedDestination(decision);
            return true;
        }
        return false;
    }

    /** Denies the request because of its destination address. */
    private Decision deniedDestination(Decision decision) {
        counters.increment(Counter.DENIED_FORWARD_DESTINATION);
        return decision.denied(403, DESTINATION, OriginFailure.Reason.DESTINATION.text());
    }

    /** Denies the request because its client is not permitted to use the forward proxy. */
    private Decision deniedToClient(Decision decision) {
        counters.increment(Counter.DENIED_FORWARD_CLIENT);
        return decision.denied(403, "requests from this client address are not forwarded", "forward:client");
    }
}
