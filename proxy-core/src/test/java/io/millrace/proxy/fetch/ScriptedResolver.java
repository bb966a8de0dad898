package io.millrace.proxy.fetch;

import io.netty.resolver.InetNameResolver;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A resolver with addresses that a test sets. A name without addresses is unknown, and {@link #SILENT} is never
 * answered.
 */
class ScriptedResolver extends InetNameResolver {

    static final String SILENT = "silent.test";

    private final Map<String, List<String>> names;

    ScriptedResolver(EventExecutor executor, Map<String, List<String>> names) {
        super(executor);
        this.names = names;
    }

    @Override
    protected void doResolve(String name, Promise<InetAddress> promise) {
        throw new UnsupportedOperationException("the client asks for all addresses");
    }

    @Override
    protected void doResolveAll(String name, Promise<List<InetAddress>> promise) throws Exception {
        if (name.equals(SILENT)) {
            return;
        }
        List<String> literals = names.get(name);
        if (literals == null) {
            promise.setFailure(new UnknownHostException("no such name: " + name));
            return;
        }
        List<InetAddress> addresses = new ArrayList<>();
        for (String literal : literals) {
            addresses.add(NetUtil.createInetAddressFromIpAddressString(literal));
        }
        promise.setSuccess(addresses);
    }
}
