package io.millrace.proxy.exchange.esi;

import io.millrace.proxy.esi.EsiDocument;
import io.millrace.proxy.esi.EsiPart;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.net.ClientStream;
import io.millrace.proxy.observe.Counter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The assembly of one document: requests its fragments, some at a time and in the order of the document, and chooses
 * between the branches of {@code esi:try}.
 *
 * <p>Confined to one event loop.
 */
final class PageAssembly {
    /** Limit of the fragments of one document that are requested at a time. */
    private static final int CONCURRENT_MAX = 8;

    private static final byte[] EMPTY = {};

    /** Receives the result, once, unless the assembly is cancelled. */
    interface End {
        /** All fragments are there. Takes ownership of the pieces. */
        void onPage(ArrayDeque<ByteBuf> pieces);

        /**
         * A fragment failed that the page needs.
         *
         * @param reason a stable word
         * @param text place and reference of the fragment
         */
        void onFailure(String reason, String text);
    }

    /** A part of the page: bytes, a fragment or a choice. */
    private sealed interface Node {}

    private record Bytes(int start, int end) implements Node {}

    private final class Slot implements Node, Fragment.End {
        final EsiPart.Include include;
        final Branch branch;
        boolean isAlternative;
        byte[] content = EMPTY;

        @Nullable
        Fragment running;

        Slot(EsiPart.Include include, Branch branch) {
            this.include = include;
            this.branch = branch;
        }

        @Override
        public void onContent(byte[] received) {
            end();
            assembler.counters().increment(Counter.ESI_FRAGMENTS_INCLUDED);
            content = received;
            proceed();
        }

        @Override
        public void onFailure(String reason) {
            end();
            failed(this, reason);
            proceed();
        }

        private void end() {
            running = null;
            inProgress.remove(this);
        }
    }

    /** An {@code esi:try}. The second branch exists once the first one has failed. */
    private static final class Choice implements Node {
        final EsiPart.Try part;
        final Branch outer;
        final Branch attempt;

        @Nullable
        Branch except;

        Choice(EsiPart.Try part, Branch outer) {
            this.part = part;
            this.outer = outer;
            this.attempt = new Branch(this);
        }
    }

    /** The parts of the document or of a branch of a choice. */
    private static final class Branch {
        final @Nullable Choice choice;
        final List<Node> nodes = new ArrayList<>();
        boolean isFailed;

        Branch(@Nullable Choice choice) {
            this.choice = choice;
        }

        /** Returns true if the page does not contain the branch. */
        boolean isDropped() {
            return isFailed || (choice != null && choice.outer.isDropped());
        }
    }

    private final PageAssembler assembler;
    private final ClientStream client;
    private final RequestHead request;
    private final EsiDocument document;
    private final int level;
    private final PageBudget budget;
    private final End end;
    private final Branch whole = new Branch(null);
    private final ArrayDeque<Slot> waiting = new ArrayDeque<>();
    private final List<Slot> inProgress = new ArrayList<>();
    private boolean isProceeding;
    private boolean isEnded;

    /**
     * @param request the request for the document; references are relative to its URL
     * @param level level of the document: 0 for the page itself
     */
    PageAssembly(
            PageAssembler assembler,
            ClientStream client,
            RequestHead request,
            EsiDocument document,
            int level,
            PageBudget budget,
            End end) {
        this.assembler = assembler;
        this.client = client;
        this.request = request;
        this.document = document;
        this.level = level;
        this.budget = budget;
        this.end = end;
    }

    /** Begins. The end may be called during this call. */
    void start() {
        fill(whole, document.parts());
        proceed();
    }

    /** Cancels all requests for fragments. The end is not called. */
    void cancel() {
        isEnded = true;
        waiting.clear();
        for (Slot slot : inProgress) {
            if (slot.running != null) {
                slot.running.cancel();
            }
        }
        inProgress.clear();
    }

    private void fill(Branch branch, List<EsiPart> parts) {
        for (EsiPart part : parts) {
            if (part instanceof EsiPart.Text text) {
                branch.nodes.add(new Bytes(text.start(), text.end()));
            } else if (part instanceof EsiPart.Include include) {
                Slot slot = new Slot(include, branch);
                branch.nodes.add(slot);
                waiting.add(slot);
            } else if (part instanceof EsiPart.Try either) {
                Choice choice = new Choice(either, branch);
                branch.nodes.add(choice);
                fill(choice.attempt, either.attempt());
            }
        }
    }

    /** Requests the next fragments, and ends if there are none. A fragment may end during its request. */
    private void proceed() {
        if (isProceeding) {
            return;
        }
        isProceeding = true;
        while (!isEnded && inProgress.size() < CONCURRENT_MAX && !waiting.isEmpty()) {
            Slot slot = waiting.remove();
            if (!slot.branch.isDropped()) {
                request(slot);
            }
        }
        isProceeding = false;
        if (!isEnded && inProgress.isEmpty() && waiting.isEmpty()) {
            isEnded = true;
            ArrayDeque<ByteBuf> pieces = new ArrayDeque<>();
            collect(whole, pieces);
            end.onPage(pieces);
        }
    }

    private void request(Slot slot) {
        String reference = slot.isAlternative ? String.valueOf(slot.include.alt()) : slot.include.src();
        TargetUri target = request.target().resolve(reference);
        String refusal = refusal(target);
        if (refusal != null || target == null) {
            failed(slot, refusal == null ? "esi-url" : refusal);
            return;
        }
        Fragment fragment =
                new Fragment(assembler, client, FragmentRequests.of(request, target), level + 1, budget, slot);
        slot.running = fragment;
        inProgress.add(slot);
        fragment.start();
    }

    /** Returns the reason why a fragment is not requested; null if it is. */
    private @Nullable String refusal(@Nullable TargetUri target) {
        if (level >= budget.config().depthMax()) {
            return "esi-depth";
        }
        if (!budget.takeInclude()) {
            return "esi-includes";
        }
        if (target == null) {
            return "esi-url";
        }
        return assembler.isMapped(target, client.connection()) ? null : "esi-not-mapped";
    }

    private void failed(Slot slot, String reason) {
        assembler.counters().increment(Counter.ESI_FRAGMENTS_FAILED);
        PageAssembler.FAULTS.reportFrequent(
                "a fragment of a page failed (esi)",
                () -> reason + ": " + slot.include.src() + " in "
                        + request.target().asString() + ":" + document.place(slot.include.position()));
        if (slot.branch.isDropped()) {
            return;
        }
        if (!slot.isAlternative && slot.include.alt() != null) {
            slot.isAlternative = true;
            waiting.addFirst(slot);
        } else if (!slot.include.isOptional()) {
            failed(slot.branch, slot, reason);
        }
    }

    /** Replaces a failed branch by the other one of its choice, or ends. */
    private void failed(Branch branch, Slot slot, String reason) {
        branch.isFailed = true;
        Choice choice = branch.choice;
        if (choice == null) {
            cancel();
            end.onFailure(
                    reason,
                    "the fragment " + slot.include.src() + " at " + document.place(slot.include.position())
                            + " failed: " + reason);
            return;
        }
        for (Slot each : List.copyOf(inProgress)) {
            if (each.branch.isDropped() && each.running != null) {
                each.running.cancel();
                inProgress.remove(each);
            }
        }
        if (branch == choice.attempt) {
            Branch except = new Branch(choice);
            choice.except = except;
            fill(except, choice.part.except());
        } else {
            failed(choice.outer, slot, reason);
        }
    }

    private void collect(Branch branch, ArrayDeque<ByteBuf> pieces) {
        for (Node node : branch.nodes) {
            if (node instanceof Bytes bytes) {
                pieces.add(Unpooled.wrappedBuffer(document.bytes(), bytes.start(), bytes.end() - bytes.start()));
            } else if (node instanceof Slot slot && slot.content.length > 0) {
                pieces.add(Unpooled.wrappedBuffer(slot.content));
            } else if (node instanceof Choice choice) {
                collect(choice.except == null ? choice.attempt : choice.except, pieces);
            }
        }
    }
}
