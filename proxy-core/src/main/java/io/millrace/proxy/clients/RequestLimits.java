package io.millrace.proxy.clients;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.access.RequestLimitConfig;
import io.millrace.proxy.config.access.RequestLimitsConfig;
import io.millrace.proxy.config.value.AddressSet;
import io.millrace.proxy.http.IpAddress;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The request limits of a configuration: those for all requests, and those of each remap rule. Immutable. */
public final class RequestLimits {
    private static final RequestLimit[] NONE = {};

    private final RequestLimit[] general;
    private final List<RequestLimit[]> byRemap = new ArrayList<>();
    private final AddressSet exempt;
    private final boolean readsRandom;

    private RequestLimits(RequestLimitsConfig limits, AddressSet exempt) {
        this.exempt = exempt;
        List<RequestLimitConfig> all = new ArrayList<>(limits.general());
        general = compiled(limits.general()).toArray(NONE);
        for (List<RequestLimitConfig> own : limits.byRemap()) {
            all.addAll(own);
            List<RequestLimit> generalAndOwn = new ArrayList<>(List.of(general));
            generalAndOwn.addAll(compiled(own));
            byRemap.add(own.isEmpty() ? general : generalAndOwn.toArray(NONE));
        }
        readsRandom = all.stream()
                .anyMatch(limit -> limit.when() != null
                        && limit.when().names(field -> field.name().equals("random")));
    }

    private static List<RequestLimit> compiled(List<RequestLimitConfig> limits) {
        return limits.stream().map(RequestLimit::new).toList();
    }

    /** Returns the limits of a configuration; null for a configuration without limits. */
    public static @Nullable RequestLimits of(ProxyConfig config) {
        return config.requestLimits().isEmpty()
                ? null
                : new RequestLimits(config.requestLimits(), config.access().trusted());
    }

    /**
     * Returns the limits for a request, in their order. Borrowed, and must not be changed.
     *
     * @param rule index of the remap rule; negative for none
     */
    public RequestLimit[] of(int rule) {
        return rule >= 0 && rule < byRemap.size() ? byRemap.get(rule) : general;
    }

    /** Returns true if a condition reads a random number. */
    public boolean readsRandom() {
        return readsRandom;
    }

    /**
     * Returns the address that is counted. Returns null for an unknown address, and for the address of a trusted proxy.
     */
    public @Nullable IpAddress client(@Nullable IpAddress address) {
        return address == null || exempt.contains(address) ? null : address;
    }
}
