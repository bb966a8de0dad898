package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.access.ForwardAccess;
import io.millrace.proxy.access.MethodPolicy;
import io.millrace.proxy.fetch.OriginFailure;
import io.millrace.proxy.http.IpAddress;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.ForwardReason;
import io.millrace.proxy.observe.LoopCounters;
import io.millrace.proxy.remap.NotMapped;
import io.millrace.proxy.remap.RemapResult;
import io.netty.util.NetUtil;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of requests that name the host themselves that they are to go to: CONNECT, and those that no rule maps. Where the host's addresses lie is not known
 * yet; that is asked when it is connected to.
 *
 * <p>Confined to one event loop.
 */
public final class ForwardDecider {
    /** The text of a refusal to forward to the address of the named host. */
    public static final String DESTINATION = "requests are not forwarded to where this host is";

    private final LoopCounters counters;

    ForwardDecider(LoopCounters counters) {
        this.counters = counters;
    }

    /**
     * Whether CONNECT opens a tunnel (RFC 9110 s9.3.6).
     *
     * @param client who asks, null when not known
     */
    Decision connect(Decision decision, long contentLength, @Nullable IpAddress client, ForwardSettings settings) {
        RequestHead request = decision.request();
        ForwardAccess forward = settings.access();
        if (!forward.isEnabled()) {
            counters.increment(Counter.DENIED_METHOD);
            return decision.denied(405, "CONNECT is not offered").allow(MethodPolicy.DEFAULT.allow());
        }
        if (!forward.isClient(client)) {
            return deniedToClient(decision);
        }
        if (contentLength != 0) {
            return decision.denied(400, "CONNECT has no content");
        }
        if (!forward.isConnectPort(request.target().port())) {
            counters.increment(Counter.DENIED_FORWARD_PORT);
            return decision.denied(403, "CONNECT may not go to this port", "forward:port");
        }
        if (isAddressDenied(request.target(), settings)) {
            return deniedDestination(decision);
        }
        return decision.forward(Decision.Kind.TUNNEL, ForwardReason.METHOD);
    }

    /** Whether a request that no rule maps names its host itself, and may: absolute-form is for proxies (RFC 9112 s3.2.2). */
    static boolean isForForwarding(RequestHead request, RemapResult found, ForwardAccess forward) {
        return found == NotMapped.NO_RULE
                && forward.isEnabled()
                && request.target().form() == TargetUri.Form.ABSOLUTE;
    }

    /**
     * Whether the host is an address that requests are not forwarded to. It is asked here where other proxies connect to the host;
     * names are theirs to look up. Where this proxy connects, it asks of each address that it connects to.
     */
    static boolean isAddressDenied(TargetUri url, ForwardSettings forward) {
        if (forward.origins() == null) {
            return false;
        }
        String host = url.host();
        byte[] address = NetUtil.createByteArrayFromIpAddressString(
                host.startsWith("[") ? host.substring(1, host.length() - 1) : host);
        return address != null && !forward.access().destinations().allow(IpAddress.of(address), url.port());
    }

    /** The host is an address that requests are not forwarded to. */
    Decision deniedDestination(Decision decision) {
        counters.increment(Counter.DENIED_FORWARD_DESTINATION);
        return decision.denied(403, DESTINATION, OriginFailure.Reason.DESTINATION.text());
    }

    /** The client is not one of those that are forwarded. */
    Decision deniedToClient(Decision decision) {
        counters.increment(Counter.DENIED_FORWARD_CLIENT);
        return decision.denied(403, "requests from this address are not forwarded", "forward:client");
    }
}
