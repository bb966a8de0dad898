package io.millrace.proxy.extension;

import io.millrace.proxy.http.FieldEdits;
import io.millrace.proxy.http.OutboundHead;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The extensions whose hooks the requests of one remap rule call, in the order of the configuration. Immutable. */
public final class HookChain {
    private static final LoadedExtension[] NONE = {};

    private final List<LoadedExtension> all;
    private final Map<Hook, LoadedExtension[]> byHook = new EnumMap<>(Hook.class);
    private final int mask;
    /** The constant changes to every response; null if requests also call hooks. */
    private final FieldEdits @Nullable [] constants;

    private HookChain(List<LoadedExtension> all) {
        this.all = List.copyOf(all);
        int bits = 0;
        for (Hook hook : Hook.values()) {
            LoadedExtension[] implementing =
                    all.stream().filter(one -> one.hooks().contains(hook)).toArray(LoadedExtension[]::new);
            if (implementing.length > 0 && hook.isOfRequests()) {
                byHook.put(hook, implementing);
                bits |= hook.bit();
            }
        }
        mask = bits;
        LoadedExtension[] delivering = of(Hook.DELIVER);
        boolean isConstant =
                bits == Hook.DELIVER.bit() && Arrays.stream(delivering).allMatch(one -> one.constants() != null);
        constants = isConstant
                ? Arrays.stream(delivering).map(LoadedExtension::constants).toArray(FieldEdits[]::new)
                : null;
    }

    /** Returns the chain of some extensions; null if they have no hook for requests. */
    static @Nullable HookChain of(List<LoadedExtension> extensions) {
        HookChain chain = new HookChain(new ArrayList<>(extensions));
        return chain.mask == 0 ? null : chain;
    }

    /** All extensions of the chain. */
    public List<LoadedExtension> all() {
        return all;
    }

    /**
     * Returns true if requests call no hook, because the extensions only set constant fields. Such requests need no
     * {@link RequestHooks}, only {@link #setConstants}.
     */
    public boolean isConstant() {
        return constants != null;
    }

    /** Sets the constant fields in an otherwise complete response head. Allocates nothing. */
    public void setConstants(OutboundHead head) {
        FieldEdits[] edits = constants;
        if (edits != null) {
            for (FieldEdits each : edits) {
                head.edit(each);
            }
        }
    }

    /** Returns true if at least one extension implements the hook. */
    public boolean has(Hook hook) {
        return (mask & hook.bit()) != 0;
    }

    /** Returns the extensions that implement a hook. The array is borrowed, and must not be changed. */
    LoadedExtension[] of(Hook hook) {
        LoadedExtension[] found = byHook.get(hook);
        return found == null ? NONE : found;
    }
}
