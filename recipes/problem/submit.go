package problem

// Errors of plan and submit.
const (
	PlanUnsupported  ID = "plan-unsupported"
	PlanInvalid      ID = "plan-invalid"
	AgainNotPossible ID = "again-not-possible"
	SlurmNotFound    ID = "slurm-not-found"
	SlurmFailed      ID = "slurm-failed"
	SlurmNoAnswer    ID = "slurm-no-answer"
	SubmitUnknown    ID = "submit-unknown"
	SubmitUnfinished ID = "submit-unfinished"
	PartitionUnknown ID = "partition-unknown"
	ProgramMissing   ID = "program-missing"
	SrtctlFailed     ID = "srtctl-failed"
	RunExists        ID = "run-exists"
	SupervisorEnded  ID = "supervisor-ended"
)

var submitEntries = []Entry{
	{
		ID: PlanUnsupported, Title: "not supported by this program",
		Cause:  "The recipe uses an engine, a frontend or a benchmark that this program does not run.",
		Remedy: "Use srtctl, or one of the supported ones.",
	},
	{
		ID: PlanInvalid, Title: "no plan possible",
		Cause:  "The recipe can't be laid out: its nodes, mounts, names or options contradict each other.",
		Remedy: "Correct the field that the message names.",
	},
	{
		ID: AgainNotPossible, Title: "run can't be submitted again",
		Cause:  "The run was not submitted from here, so its inputs are not known.",
		Remedy: "Apply its recipe.",
	},
	{
		ID: SlurmNotFound, Title: "Slurm not found",
		Cause:  "The commands of Slurm are not on the PATH.",
		Remedy: "Log in to a login node of the cluster, or load its module; --launcher local needs no cluster.",
	},
	{
		ID: SlurmFailed, Title: "a Slurm command failed",
		Cause:  "Slurm answered with an error.",
		Remedy: "See Slurm's own words in the message.",
	},
	{
		ID: SlurmNoAnswer, Title: "Slurm does not answer",
		Cause:  "A command of Slurm did not answer in time.",
		Remedy: "Try again; nothing was changed unless the message says so.",
	},
	{
		ID: SubmitUnknown, Title: "not known whether the job was queued",
		Cause:  "sbatch did not answer, and the job was not found.",
		Remedy: "Run apply again: it looks for the job before it submits another one.",
	},
	{
		ID: SubmitUnfinished, Title: "an earlier submit was cut off",
		Cause:  "An earlier submit ended before its run was recorded.",
		Remedy: "See the message; nothing more was submitted.",
	},
	{
		ID: PartitionUnknown, Title: "no such partition",
		Cause:  "The partition is not one of this cluster.",
		Remedy: "Use one of those that the message lists.",
	},
	{
		ID: ProgramMissing, Title: "no binary for the nodes",
		Cause:  "The nodes have another architecture, and there is no binary for it.",
		Remedy: "Run make dist and put the binary where the message says.",
	},
	{
		ID: SrtctlFailed, Title: "srtctl failed",
		Cause:  "srtctl refused the recipe, or its answer names no job.",
		Remedy: "See srtctl's own words in the message.",
	},
	{
		ID: RunExists, Title: "the run exists already",
		Cause:  "The directory of the run exists, or the run has been started before.",
		Remedy: "Submit again for a new run.",
	},
	{
		ID: SupervisorEnded, Title: "the run did not start",
		Cause:  "The process that supervises a local run ended at once.",
		Remedy: "See the log that the message names.",
	},
}
