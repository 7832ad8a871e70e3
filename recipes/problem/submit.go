package problem

// Errors of plan and submit.
const (
	PlanUnsupported     ID = "plan-unsupported"
	PlanInvalid         ID = "plan-invalid"
	ResubmitNotPossible ID = "resubmit-not-possible"
	SlurmNotFound       ID = "slurm-not-found"
	SlurmFailed         ID = "slurm-failed"
	SlurmTimeout        ID = "slurm-timeout"
	SubmitUnconfirmed   ID = "submit-unconfirmed"
	SubmitUnfinished    ID = "submit-unfinished"
	PartitionUnknown    ID = "partition-unknown"
	ProgramMissing      ID = "program-missing"
	SrtctlFailed        ID = "srtctl-failed"
	RunExists           ID = "run-exists"
	SupervisorEnded     ID = "supervisor-ended"
)

var submitEntries = []Entry{
	{
		ID: PlanUnsupported, Title: "not supported by this program",
		Cause:  "The recipe uses an engine, a frontend or a benchmark that this program can't run.",
		Remedy: "Use srtctl, or one of the supported ones.",
	},
	{
		ID: PlanInvalid, Title: "no valid plan",
		Cause:  "The recipe's nodes, mounts, names or options contradict each other.",
		Remedy: "Correct the field that the message names.",
	},
	{
		ID: ResubmitNotPossible, Title: "run can't be resubmitted",
		Cause:  "The run was not submitted by this program, so its inputs are unknown.",
		Remedy: "Apply its recipe instead.",
	},
	{
		ID: SlurmNotFound, Title: "Slurm not found",
		Cause:  "The Slurm commands are not on the PATH.",
		Remedy: "Log in to a login node of the cluster, or load its module; --launcher local needs no cluster.",
	},
	{
		ID: SlurmFailed, Title: "Slurm command failed",
		Cause:  "A Slurm command returned an error.",
		Remedy: "See Slurm's own message.",
	},
	{
		ID: SlurmTimeout, Title: "Slurm timed out",
		Cause:  "A Slurm command did not answer in time.",
		Remedy: "Try again; nothing was changed unless the message says so.",
	},
	{
		ID: SubmitUnconfirmed, Title: "submission not confirmed",
		Cause:  "sbatch did not answer, and the job was not found.",
		Remedy: "Run apply again: it looks for the job before it submits another one.",
	},
	{
		ID: SubmitUnfinished, Title: "earlier submission unfinished",
		Cause:  "An earlier submission stopped before its run was recorded.",
		Remedy: "See the message; nothing more was submitted.",
	},
	{
		ID: PartitionUnknown, Title: "unknown partition",
		Cause:  "The cluster has no partition with this name.",
		Remedy: "Use one of the partitions that the message lists.",
	},
	{
		ID: ProgramMissing, Title: "no binary for the nodes",
		Cause:  "The nodes have another architecture, and there is no binary for it.",
		Remedy: "Run make dist and put the binary where the message says.",
	},
	{
		ID: SrtctlFailed, Title: "srtctl failed",
		Cause:  "srtctl rejected the recipe, or its output names no job or is no schema.",
		Remedy: "See srtctl's own message.",
	},
	{
		ID: RunExists, Title: "run already exists",
		Cause:  "The directory of the run exists, or the run has been started before.",
		Remedy: "Submit again to create a new run.",
	},
	{
		ID: SupervisorEnded, Title: "run did not start",
		Cause:  "The process that supervises a local run exited at once.",
		Remedy: "See the log that the message names.",
	},
}
