package io.millrace.proxy.exchange.esi;

import io.millrace.proxy.esi.EsiDocument;
import io.millrace.proxy.esi.EsiPart;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.net.ClientStream;
import io.millrace.proxy.observe.Counter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The assembly of one ESI document: requests its fragments, a few at a time and in the order of the document, and
 * chooses between the branches of {@code esi:try}.
 *
 * <p>Confined to one event loop.
 */
final class PageAssembly {
    /** Limit of the fragments of one document that are requested at a time. */
    private static final int CONCURRENT_MAX = 8;

    /** Limit of the fragments that are requested in one task of the event loop. */
    static final int REQUESTS_PER_TASK_MAX = 64;

    private static final byte[] EMPTY = {};

    /** Receives the result, once, unless the assembly is cancelled. */
    interface End {
        /** All fragments have arrived. */
        void onPage(PageContent page);

        /** A fragment that the page needs has failed. */
        void onFailure(PageFailure failure);

        /** An unexpected exception ended the assembly. */
        void onFault(Throwable fault);
    }

    /** A part of the page: bytes, a fragment or a choice. */
    private sealed interface Node {}

    /** Bytes of the document that are sent unchanged. */
    private record Bytes(int start, int end) implements Node {}

    /** An {@code esi:include}, which receives the content of its fragment. */
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
            try {
                failed(this, reason);
            } catch (RuntimeException | Error e) {
                onFault(e);
            }
            proceed();
        }

        /** The reference that is requested: src, or alt after the failure of src. */
        String reference() {
            String alt = include.alt();
            return isAlternative && alt != null ? alt : include.src();
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
    private final HeldMemory memory;
    private final End end;
    private final Branch whole = new Branch(null);
    private final ArrayDeque<Slot> waiting = new ArrayDeque<>();
    private final List<Slot> inProgress = new ArrayList<>();
    /** True while {@link #proceed} runs; prevents recursion. */
    private boolean isProceeding;
    /** True while a task on the event loop will request the next fragments. */
    private boolean isScheduled;

    private boolean isEnded;

    /**
     * @param request the request for the document; references are relative to its URL
     * @param level nesting level of the document: 0 for the page itself
     */
    PageAssembly(
            PageAssembler assembler,
            ClientStream client,
            RequestHead request,
            EsiDocument document,
            int level,
            PageBudget budget,
            HeldMemory memory,
            End end) {
        this.assembler = assembler;
        this.client = client;
        this.request = request;
        this.document = document;
        this.level = level;
        this.budget = budget;
        this.memory = memory;
        this.end = end;
    }

    /** Begins the assembly. {@code end} may be called during this call. */
    void start() {
        fill(whole, document.parts());
        proceed();
    }

    /** Cancels all requests for fragments. {@code end} is not called. */
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

    /** Adds parts to a branch, and queues their fragments. The parts of {@code except} are added only when needed. */
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

    /** Requests the next fragments; ends the assembly if there are none. A fragment may arrive during its request. */
    private void proceed() {
        if (isProceeding || isScheduled) {
            return;
        }
        isProceeding = true;
        try {
            requestNext();
            if (!isEnded && !isScheduled && inProgress.isEmpty() && waiting.isEmpty()) {
                isEnded = true;
                PageContent page = new PageContent();
                collect(whole, page);
                end.onPage(page);
            }
        } catch (RuntimeException | Error e) {
            onFault(e);
        } finally {
            isProceeding = false;
        }
    }

    private void requestNext() {
        // Fragments in RAM arrive during their request. Therefore the limit of concurrent requests does not bound this
        // loop.
        int count = 0;
        while (!isEnded && inProgress.size() < CONCURRENT_MAX && !waiting.isEmpty()) {
            if (count == REQUESTS_PER_TASK_MAX) {
                isScheduled = true;
                client.eventLoop().execute(this::proceedLater);
                return;
            }
            count++;
            Slot slot = waiting.remove();
            if (!slot.branch.isDropped()) {
                request(slot);
            }
        }
    }

    private void proceedLater() {
        isScheduled = false;
        proceed();
    }

    private void onFault(Throwable fault) {
        cancel();
        end.onFault(fault);
    }

    private void request(Slot slot) {
        TargetUri target = request.target().resolve(slot.reference());
        String refusal = refusal(target);
        if (refusal != null || target == null) {
            failed(slot, refusal == null ? "esi-url" : refusal);
            return;
        }
        Fragment fragment =
                new Fragment(assembler, client, FragmentRequests.of(request, target), level + 1, budget, memory, slot);
        slot.running = fragment;
        inProgress.add(slot);
        fragment.start();
    }

    /** Counts a fragment, and returns the reason why it must not be requested; null if it may be requested. */
    private @Nullable String refusal(@Nullable TargetUri target) {
        if (level >= budget.config().depthMax()) {
            return PageFailure.DEPTH;
        }
        if (!budget.takeInclude()) {
            return PageFailure.INCLUDES;
        }
        if (target == null) {
            return "esi-url";
        }
        return assembler.isMapped(target, client.connection()) ? null : "esi-not-mapped";
    }

    /** Requests the alternative of a failed fragment, leaves the fragment out, or fails its branch. */
    private void failed(Slot slot, String reason) {
        assembler.counters().increment(Counter.ESI_FRAGMENTS_FAILED);
        PageAssembler.FAULTS.reportFrequent(
                "a fragment of a page failed (esi)",
                () -> budget.text(reason, memory) + ": " + PrintableUrl.of(slot.reference()) + " in "
                        + PrintableUrl.of(request.target()) + ":" + document.place(slot.include.position()));
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

    /** Replaces a failed branch by the other branch of its choice, or ends the assembly. */
    private void failed(Branch branch, Slot slot, String reason) {
        branch.isFailed = true;
        Choice choice = branch.choice;
        if (choice == null) {
            cancel();
            end.onFailure(PageFailure.fragment(
                    reason,
                    "the fragment " + PrintableUrl.of(slot.reference()) + " at "
                            + document.place(slot.include.position()) + " failed: " + budget.text(reason, memory)));
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

    /** Appends the content of a branch to the page. */
    private void collect(Branch branch, PageContent page) {
        for (Node node : branch.nodes) {
            if (node instanceof Bytes bytes) {
                page.add(document.bytes(), bytes.start(), bytes.end());
            } else if (node instanceof Slot slot) {
                page.add(slot.content, 0, slot.content.length);
            } else if (node instanceof Choice choice) {
                collect(choice.except == null ? choice.attempt : choice.except, page);
            }
        }
    }
}
