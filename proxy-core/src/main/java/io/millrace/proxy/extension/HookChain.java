package io.millrace.proxy.extension;

import java.util.ArrayList;
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

    private HookChain(List<LoadedExtension> all) {
        this.all = List.copyOf(all);
        int bits = 0;
        for (Hook hook : Hook.values()) {
            LoadedExtension[] of =
                    all.stream().filter(one -> one.hooks().contains(hook)).toArray(LoadedExtension[]::new);
            if (of.length > 0 && hook != Hook.PURGE) {
                byHook.put(hook, of);
                bits |= hook.bit();
            }
        }
        mask = bits;
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

    /** Returns true if at least one extension has the hook. */
    public boolean has(Hook hook) {
        return (mask & hook.bit()) != 0;
    }

    /** Returns the extensions with a hook. Borrowed, and must not be changed. */
    LoadedExtension[] of(Hook hook) {
        LoadedExtension[] found = byHook.get(hook);
        return found == null ? NONE : found;
    }
}
