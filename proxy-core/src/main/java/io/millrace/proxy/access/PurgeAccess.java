package io.millrace.proxy.access;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.remap.RemapRuleConfig;
import io.millrace.proxy.config.value.AddressRange;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ListCursor;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The right to purge by request: the addresses of {@code purge.allow} for each rule. For a forwarded request, the peer
 * and all addresses in its forwarding fields must be allowed. The fields can remove the right but never grant it.
 * Therefore a proxy on the same machine does not pass its own right on to all its clients. Immutable.
 */
public final class PurgeAccess {
    private static final List<FieldName> FORWARDED_FOR = List.of(FieldName.X_FORWARDED_FOR, FieldName.of("X-Real-IP"));

    private final List<List<AddressRange>> byRule;
    private final List<AddressRange> unmapped;

    private PurgeAccess(List<List<AddressRange>> byRule, List<AddressRange> unmapped) {
        this.byRule = List.copyOf(byRule);
        this.unmapped = unmapped;
    }

    /** Returns the purge rights of a configuration. */
    static PurgeAccess of(ProxyConfig config) {
        List<List<AddressRange>> byRule = new ArrayList<>();
        for (RemapRuleConfig rule : config.remap()) {
            byRule.add(rule.purgeAllow());
        }
        return new PurgeAccess(byRule, config.access().purgeAllow());
    }

    /**
     * Returns the reason why the request may not purge URLs of a rule. Returns null if it may.
     *
     * @param ruleIndex the rule, or {@link AccessRules#NO_RULE}
     * @param peer address of the sender, null if unknown
     */
    public @Nullable String refusal(int ruleIndex, @Nullable InetAddress peer, FieldSection fields) {
        List<AddressRange> allowed = ruleIndex == AccessRules.NO_RULE ? unmapped : byRule.get(ruleIndex);
        String list = allowed.equals(unmapped) ? "purge.allow" : "purge.allow of remap[" + ruleIndex + "]";
        if (peer == null || !contains(allowed, peer)) {
            return list + " does not contain " + (peer == null ? "your address" : peer.getHostAddress());
        }
        boolean namesClient = false;
        for (FieldName name : FORWARDED_FOR) {
            ListCursor members = ListCursor.over(fields, name);
            while (members.next()) {
                namesClient = true;
                String text = new String(
                        members.bytes(), members.start(), members.end() - members.start(), StandardCharsets.ISO_8859_1);
                byte[] address = NetUtil.createByteArrayFromIpAddressString(text);
                if (address == null) {
                    return name.text() + " has an element that is not an IP address";
                }
                if (!contains(allowed, address)) {
                    return list + " does not contain " + NetUtil.bytesToIpAddress(address) + " of " + name.text();
                }
            }
        }
        FieldName proxied = fields.contains(FieldName.VIA) ? FieldName.VIA : FieldName.FORWARDED;
        return fields.contains(proxied) && !namesClient
                ? "the request came through another proxy at " + peer.getHostAddress() + " (it has the field "
                        + proxied.text() + "), and no X-Forwarded-For names the client"
                : null;
    }

    private static boolean contains(List<AddressRange> ranges, byte[] address) {
        for (AddressRange range : ranges) {
            if (range.contains(address)) {
                return true;
            }
        }
        return false;
    }

    private static boolean contains(List<AddressRange> ranges, InetAddress address) {
        return contains(ranges, address.getAddress());
    }
}
